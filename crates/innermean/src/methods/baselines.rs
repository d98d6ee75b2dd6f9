//! Methods of other papers, each in a file that reads like its paper's box, and the boxes that
//! several of them share.

pub mod alexr;
pub mod asc_pg;
pub mod ascvrg;
pub mod averaged;
pub mod c_saga;
pub mod comp_svrg1;
pub mod comp_svrg2;
mod component;
pub mod composition;
pub mod decay;
pub mod estimates;
pub mod field;
pub mod gtd2;
pub mod mspbe_saga;
pub mod mspbe_svrg;
pub mod msvr;
pub mod pdbg;
pub mod saga;
pub mod saga_table;
pub mod scgd;
pub mod sox;
pub mod spdc;
pub mod spdg;
pub mod svrg;
pub mod tracking;
pub mod vrsc_pg;
