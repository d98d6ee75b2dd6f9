//! Files to arrays.
