//! Where the tests of a crate are modules of one binary, no file is forgotten.

use std::fs;
use std::path::Path;

#[test]
fn each_file_of_tests_is_a_module() {
    let native = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = 0;
    for folder in fs::read_dir(native).unwrap() {
        let folder = folder.unwrap().path().join("tests");
        let Ok(all) = fs::read_to_string(folder.join("all.rs")) else {
            continue;
        };
        for file in fs::read_dir(folder).unwrap() {
            let name = file.unwrap().file_name().into_string().unwrap();
            if let Some(module) = name.strip_suffix(".rs").filter(|name| *name != "all") {
                assert!(all.contains(&format!("\nmod {module};\n")), "{name}");
                files += 1;
            }
        }
    }
    assert!(files > 60);
}
