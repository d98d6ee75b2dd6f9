//! Arrays and archives made byte by byte, as numpy writes them.

use std::io::Write as _;

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

/// An npy file of version 1.
pub(crate) fn npy(kind: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    npy_with(1, kind, "False", shape, data)
}

pub(crate) fn npy_with(
    version: u8,
    kind: &str,
    fortran: &str,
    shape: &str,
    data: &[u8],
) -> Vec<u8> {
    let mut text =
        format!("{{'descr': '{kind}', 'fortran_order': {fortran}, 'shape': ({shape}), }}");
    text.push_str(&" ".repeat(20));
    text.push('\n');
    let mut bytes = [b"\x93NUMPY", &[version, 0][..]].concat();
    if version == 1 {
        bytes.extend((text.len() as u16).to_le_bytes());
    } else {
        bytes.extend((text.len() as u32).to_le_bytes());
    }
    bytes.extend(text.as_bytes());
    bytes.extend(data);
    bytes
}

pub(crate) fn doubles(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// A zip archive of these members.
pub(crate) fn zip(members: &[(&str, Vec<u8>)], deflated: bool) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, data) in members {
        let mut crc = Crc::new();
        crc.update(data);
        let packed = if deflated {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(data).unwrap();
            encoder.finish().unwrap()
        } else {
            data.clone()
        };
        let offset = bytes.len() as u32;
        let mut fields = Vec::new();
        fields.extend([20, 0, 0, 0]);
        fields.extend([if deflated { 8 } else { 0 }, 0, 0, 0, 0, 0]);
        fields.extend(crc.sum().to_le_bytes());
        fields.extend((packed.len() as u32).to_le_bytes());
        fields.extend((data.len() as u32).to_le_bytes());
        fields.extend((name.len() as u16).to_le_bytes());
        bytes.extend(b"PK\x03\x04");
        bytes.extend(&fields);
        // An extra field that the directory does not have, as numpy writes one.
        bytes.extend([4, 0]);
        bytes.extend(name.as_bytes());
        bytes.extend([9, 9, 0, 0]);
        bytes.extend(&packed);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&fields);
        directory.extend([0; 12]);
        directory.extend(offset.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let from = bytes.len() as u32;
    bytes.extend(&directory);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend((members.len() as u16).to_le_bytes());
    bytes.extend((members.len() as u16).to_le_bytes());
    bytes.extend((directory.len() as u32).to_le_bytes());
    bytes.extend(from.to_le_bytes());
    bytes.extend([0, 0]);
    bytes
}
