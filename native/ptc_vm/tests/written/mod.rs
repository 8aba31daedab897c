//! Files that tests write on request, and compare with what they would write.

/// Fails if a file has another text. With `PTC_WRITE_GUIDES` in the environment, it is written first. `write`: the arguments of `cargo test`
/// that do so.
pub fn assert_written(file: &str, wanted: &str, write: &str) {
    if std::env::var_os("PTC_WRITE_GUIDES").is_some() {
        std::fs::write(file, wanted).expect("the file is written");
    }
    let written = std::fs::read_to_string(file).unwrap_or_default();
    assert!(
        written == wanted,
        "{file} is not what the code makes. If that is meant: PTC_WRITE_GUIDES=1 cargo test {write}"
    );
}
