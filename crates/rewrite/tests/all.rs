//! One binary for all of these tests.

mod copies;
