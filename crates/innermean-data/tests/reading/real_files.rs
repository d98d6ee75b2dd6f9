//! Daily returns of 25 sorted portfolios in six regions, where they are at hand; they are not part
//! of the repository.

use std::fs;
use std::path::Path;

use innermean_data::{ReadOptions, read_returns};

#[test]
fn all_regions_are_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/portfolio");
    let Ok(entries) = fs::read_dir(&folder) else {
        println!("skipped: no files of real returns in {}", folder.display());
        return;
    };
    let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    let mut count = 0;
    for path in paths.filter(|path| path.extension().is_some_and(|extension| extension == "csv")) {
        let returns = read_returns(&path, &ReadOptions::default()).unwrap();
        assert_eq!((returns.rows(), returns.assets()), (7240, 25), "{}", path.display());
        assert_eq!(returns.names[0], "p01");
        assert_eq!(returns.dates.as_ref().map(Vec::len), Some(7240));
        assert!(returns.notes.is_empty(), "{:?}", returns.notes);
        count += 1;
    }
    assert_eq!(count, 18);
}
