//! Reads the code and compares it with ARCHITECTURE.md: what the document says of the floors is true, or this fails.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// No file of the sources is longer, in lines; tests aside.
const LONGEST: usize = 600;
/// What only the ring sees: limbs of polynomials, tables, kernels and the rows that these take.
const OF_THE_RING: [&str; 14] = [
    "fn limb(",
    "fn limb_mut(",
    "fn limbs_mut(",
    "fn par_limbs_mut(",
    "fn words_mut(",
    "fn for_limbs<",
    "fn convert(",
    "fn table(",
    "struct BaseConverter",
    "struct FormRow",
    "struct KeyRow",
    "struct ProductRow",
    "struct DiagonalRow",
    "struct LinearMapRow",
];
/// Who may open the door to residues, `Poly::host`: samplers, switches, encoding, files, devices, and what tests compare.
const AT_THE_DOOR: [&str; 8] = [
    "crates/cuda/src/poly.rs",
    "crates/rlwe/src/ring_switch/residues.rs",
    "crates/rlwe/src/encrypt.rs",
    "crates/rlwe/src/wire.rs",
    "crates/schemes/src/ckks/encode.rs",
    "crates/schemes/src/integer/encrypt.rs",
    "crates/wire/src/body.rs",
    "crates/testing/src/golden.rs",
];
/// Lines above an `unsafe` block within which its `SAFETY` comment stands.
const NEAR: usize = 3;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// All files below a folder with this ending, sorted.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    for path in entries.map(|e| e.unwrap().path()) {
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn is_test(path: &Path) -> bool {
    let name = path.file_stem().and_then(|n| n.to_str()).unwrap_or_default();
    let inside = path.strip_prefix(root()).expect("all files are below the root");
    name == "tests" || name.ends_with("_tests") || inside.components().any(|c| c.as_os_str() == "tests")
}

/// Folder under `crates/` and text of `Cargo.toml` of every member of the workspace.
fn manifests() -> Vec<(PathBuf, String)> {
    let workspace = read(&root().join("Cargo.toml"));
    let members = workspace.lines().find(|l| l.starts_with("members")).expect("the workspace lists its members");
    let members: Vec<PathBuf> = members.split('"').skip(1).step_by(2).map(|m| root().join(m)).collect();
    let folders = std::fs::read_dir(root().join("crates")).unwrap().filter(|e| e.as_ref().unwrap().path().is_dir());
    assert_eq!(members.len(), folders.count(), "a folder under crates/ is not a member of the workspace");
    members.into_iter().map(|folder| (folder.clone(), read(&folder.join("Cargo.toml")))).collect()
}

fn name_of(manifest: &str) -> &str {
    let line = manifest.lines().find(|l| l.starts_with("name = ")).expect("a package has a name");
    line.split('"').nth(1).unwrap()
}

/// The crate of the tests' own tools, which others name under `[dev-dependencies]` only.
const TESTING: &str = "aglet-testing";

/// The crates of this workspace that a manifest names, in whatever table of dependencies; as a tool for tests, [`TESTING`] is no
/// floor that a crate stands on.
fn edges(manifest: &str) -> BTreeSet<String> {
    let mut table = "";
    let mut found = BTreeSet::new();
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            table = line;
            // [dependencies.aglet-ring] and its like.
            found.extend(line.trim_matches(['[', ']']).split_once("dependencies.").map(|(_, name)| name.to_string()));
        } else if table.contains("dependencies") {
            let name = line.split(['.', '=', ' ']).next();
            found.extend(name.filter(|name| table != "[dev-dependencies]" || *name != TESTING).map(str::to_string));
        }
    }
    found.retain(|name| name == "aglet" || name.starts_with("aglet-"));
    found
}

/// One line of the picture: `floor crate (U) dependencies`.
struct Floor {
    /// Of a crate for tests, which is above all others, the largest.
    number: usize,
    may_be_unsafe: bool,
    stands_on: BTreeSet<String>,
}

/// The picture of ARCHITECTURE.md: the first block of code after the heading "Floors".
fn picture() -> BTreeMap<String, Floor> {
    let text = read(&root().join("ARCHITECTURE.md"));
    let (_, floors) = text.split_once("\n## Floors\n").expect("ARCHITECTURE.md has a section \"Floors\"");
    let block = floors.split("```").nth(1).expect("the section has a picture");
    let mut picture = BTreeMap::new();
    for line in block.lines() {
        let mut words = line.split_whitespace();
        let first = words.next().map(|word| if word == "dev" { Ok(usize::MAX) } else { word.parse() });
        let Some(Ok(number)) = first else { continue };
        let name = words.next().expect("a floor has a name").to_string();
        let mut stands_on: BTreeSet<String> = words.map(str::to_string).collect();
        let may_be_unsafe = stands_on.remove("(U)");
        stands_on.remove("-");
        assert!(picture.insert(name.clone(), Floor { number, may_be_unsafe, stands_on }).is_none(), "{name} twice");
    }
    picture
}

/// A line without its comment and without the contents of its strings. Line by line, which is enough for formatted sources:
/// a string over several lines may raise a false alarm, never hide anything.
fn code(line: &str) -> String {
    let line = line.replace("'\"'", "''");
    let (mut out, mut quoted, mut characters) = (String::new(), false, line.chars().peekable());
    while let Some(c) = characters.next() {
        match c {
            '\\' if quoted => {
                characters.next();
            }
            '"' => quoted = !quoted,
            '/' if !quoted && characters.peek() == Some(&'/') => break,
            _ if !quoted => out.push(c),
            _ => {}
        }
    }
    out
}

fn says_unsafe(line: &str) -> bool {
    code(line).split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe")
}

#[test]
fn the_floors_are_those_of_the_picture_and_arrows_point_down() {
    let (picture, manifests) = (picture(), manifests());
    let crates: BTreeSet<&str> = manifests.iter().map(|(_, text)| name_of(text)).collect();
    assert_eq!(picture.keys().map(String::as_str).collect::<BTreeSet<_>>(), crates, "crates of the picture");
    for (_, manifest) in &manifests {
        let name = name_of(manifest);
        assert_eq!(edges(manifest), picture[name].stands_on, "{name} stands on other crates than in the picture");
        for below in &picture[name].stands_on {
            assert!(picture[below].number < picture[name].number, "the arrow from {name} to {below} points up");
        }
    }
}

#[test]
fn only_tests_can_choose_their_randomness() {
    for (folder, manifest) in manifests() {
        let enables = manifest.lines().any(|line| !line.trim_start().starts_with('#') && line.contains("\"seeded\""));
        assert_eq!(enables, name_of(&manifest) == TESTING, "{}: the feature \"seeded\"", folder.display());
    }
    let floors = picture();
    assert!(floors.iter().all(|(name, floor)| (floor.number == usize::MAX) == (name == TESTING)));
    assert!(!read(&root().join("pyproject.toml")).contains("seeded"));
}

#[test]
fn unsafe_stands_only_where_it_is_marked() {
    let picture = picture();
    for (folder, manifest) in manifests() {
        let marked = picture[name_of(&manifest)].may_be_unsafe;
        let lib = read(&folder.join("src/lib.rs"));
        if !marked {
            assert!(lib.contains("#![forbid(unsafe_code)]"), "{} does not forbid unsafe code", folder.display());
        }
        assert!(manifest.contains("[lints]\nworkspace = true"), "{} has lints of its own", folder.display());
        for path in files(&folder, "rs") {
            let allowed = match name_of(&manifest) {
                "aglet-ring" => path.starts_with(folder.join("src/arch")),
                "aglet-cuda" => path.starts_with(folder.join("src/driver")),
                TESTING => path == folder.join("src/emu.rs"),
                _ => marked && path.starts_with(folder.join("src")),
            };
            for (i, line) in read(&path).lines().enumerate().filter(|(_, line)| says_unsafe(line)) {
                assert!(allowed, "{}:{}: unsafe has no place here: {line}", path.display(), i + 1);
            }
        }
    }
    for (name, module) in [("ring", "pub mod arch;"), ("cuda", "mod driver;"), ("testing", "pub mod emu;")] {
        let lib = read(&root().join(format!("crates/{name}/src/lib.rs")));
        assert!(lib.contains("#![deny(unsafe_code)]") && lib.matches("allow(unsafe_code)").count() == 1);
        assert!(lib.contains(&format!("#[allow(unsafe_code)]\n{module}")), "{name} opens unsafe for another module");
    }
    assert!(read(&root().join("Cargo.toml")).contains("unsafe_op_in_unsafe_fn = \"deny\""));
}

#[test]
fn every_unsafe_block_says_why_it_is_safe() {
    let mut blocks = 0;
    let marked = files(&root().join("crates/ring/src/arch"), "rs").into_iter();
    let others = ["crates/cuda/src", "crates/testing/src", "crates/py/src"]
        .into_iter()
        .flat_map(|folder| files(&root().join(folder), "rs"));
    for path in marked.chain(others) {
        let text = read(&path);
        let lines: Vec<&str> = text.lines().collect();
        for (i, line) in lines.iter().enumerate() {
            let line = code(line);
            if line.contains("unsafe {") || line.contains("unsafe impl") {
                blocks += 1;
                let near = &lines[i.saturating_sub(NEAR)..=i];
                let said = near.iter().any(|l| l.contains("// SAFETY"));
                assert!(said, "{}:{}: this block has no SAFETY comment", path.display(), i + 1);
            }
            // Kernels that the table calls: their contract is documented.
            if line.contains("pub(crate) unsafe fn") {
                let mut doc = lines[..i].iter().rev().take_while(|l| l.trim_start().starts_with(['/', '#']));
                let contract = doc.any(|l| l.contains("# Safety"));
                assert!(contract, "{}:{}: no contract under # Safety", path.display(), i + 1);
            }
        }
    }
    assert!(blocks > 100, "only {blocks} unsafe blocks found: the test does not read what it should");
}

#[test]
fn limbs_are_seen_in_the_ring_only() {
    let mut seen = BTreeSet::new();
    for path in files(&root().join("crates/ring/src"), "rs") {
        for line in read(&path).lines().map(code) {
            for name in OF_THE_RING.iter().filter(|name| line.contains(*name)) {
                seen.insert(*name);
                assert!(
                    !line.trim_start().starts_with("pub "),
                    "{}: {name} is for the ring alone: {line}",
                    path.display()
                );
            }
        }
    }
    assert_eq!(seen.len(), OF_THE_RING.len(), "of what only the ring sees there is {seen:?} left");
    let outside = manifests().into_iter().filter(|(_, manifest)| name_of(manifest) != "aglet-ring");
    let sources = outside.flat_map(|(folder, _)| files(&folder.join("src"), "rs")).filter(|path| !is_test(path));
    let open = sources
        .filter(|path| read(path).lines().any(|l| [".host()", ".host_mut()"].iter().any(|d| code(l).contains(d))));
    let open: BTreeSet<PathBuf> = open.map(|path| path.strip_prefix(root()).unwrap().into()).collect();
    assert_eq!(open, AT_THE_DOOR.iter().map(PathBuf::from).collect(), "files that open the door to residues");
}

#[test]
fn every_preset_is_listed_and_has_source_and_claims() {
    let stem = |p: PathBuf| p.file_stem().unwrap().to_str().unwrap().to_string();
    let on_disk: BTreeSet<String> = files(&root().join("crates/aglet/presets"), "toml").into_iter().map(stem).collect();
    let listed: BTreeSet<String> = aglet::ckks::presets::ALL.iter().map(|(name, _)| name.to_string()).collect();
    let gates: BTreeSet<String> = aglet::fhew::presets::ALL.iter().map(|(name, _)| name.to_string()).collect();
    let integers: BTreeSet<String> = aglet::integer::presets::ALL.iter().map(|(name, _)| name.to_string()).collect();
    assert_eq!(on_disk, &(&listed | &gates) | &integers, "files under presets/ and the lists of presets");
    for name in integers {
        let params = aglet::integer::presets::load(&name, aglet::integer::presets::Security::NotChecked).unwrap();
        let literal = params.literal();
        assert!(literal.name == name && literal.source.trim().len() > 20 && literal.claims.is_some(), "{name}");
    }
    for name in gates {
        let params = aglet::fhew::presets::load(&name, aglet::fhew::presets::Security::NotChecked).unwrap();
        let literal = params.literal();
        assert!(literal.name == name && literal.source.trim().len() > 20 && literal.claims.is_some(), "{name}");
    }
    for name in listed {
        let params = aglet::ckks::presets::load(&name, aglet::ckks::presets::Security::NotChecked).unwrap();
        let literal = params.literal();
        assert_eq!(literal.name, name);
        assert!(literal.source.trim().len() > 20, "{name} does not say where its numbers come from");
        let claims = literal.claims.as_ref().unwrap_or_else(|| panic!("{name} claims nothing"));
        if aglet::ckks::presets::can_bootstrap(&params) {
            assert!(claims.key_bytes.is_some(), "{name} can bootstrap and claims less");
            let precise = claims.precision_bits.is_some() && claims.log2_p_fail.is_some();
            // What is for bits alone leaves them exact, and other numbers as they may be.
            let exempt = name.starts_with("bits") || !params.security().is_secure();
            assert!(precise || exempt, "{name} can bootstrap and claims no precision");
        }
    }
}

#[test]
fn files_are_short_and_begin_with_what_they_are() {
    for (folder, _) in manifests() {
        for path in files(&folder.join("src"), "rs") {
            let text = read(&path);
            assert!(text.starts_with("//! "), "{} does not begin with a //! line", path.display());
            let length = text.lines().count();
            assert!(is_test(&path) || length <= LONGEST, "{} has {length} lines; split it", path.display());
        }
    }
    for path in files(&root().join("python"), "py") {
        let text = read(&path);
        assert!(text.starts_with("\"\"\""), "{} does not begin with a docstring", path.display());
        let length = text.lines().count();
        assert!(length <= LONGEST, "{} has {length} lines; split it", path.display());
    }
}

/// A file that no module names would be compiled by nothing, and its tests would never run.
#[test]
fn every_file_of_tests_is_a_module_of_their_program() {
    let mut count = 0;
    for (folder, _) in manifests().into_iter().filter(|(_, manifest)| manifest.contains("autotests = false")) {
        let tests = folder.join("tests");
        let program = read(&tests.join("main.rs"));
        let named: BTreeSet<&str> =
            program.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';')).collect();
        let found = files(&tests, "rs");
        let stems: BTreeSet<&str> = found.iter().map(|path| path.file_stem().unwrap().to_str().unwrap()).collect();
        assert_eq!(stems, &named | &BTreeSet::from(["main"]), "modules of {}", tests.join("main.rs").display());
        count += found.len();
    }
    assert!(count > 30, "only {count} files of tests found: the test does not read what it should");
}

#[test]
fn the_document_names_every_crate_and_only_files_that_exist() {
    let text = read(&root().join("ARCHITECTURE.md"));
    for (folder, manifest) in manifests() {
        let place = format!("crates/{}", folder.file_name().unwrap().to_str().unwrap());
        assert!(text.contains(&format!("`{}`", name_of(&manifest))), "ARCHITECTURE.md does not name {place}");
        assert!(text.contains(&format!("`{place}")), "ARCHITECTURE.md does not say what {place} holds");
    }
    let starts = ["crates/", "python/", "tests/", "tools/", "docs/", "examples/"];
    for word in text.split('`').skip(1).step_by(2).filter(|w| starts.iter().any(|s| w.starts_with(s))) {
        let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
        assert!(!plain || root().join(word).exists(), "ARCHITECTURE.md names {word}, which does not exist");
    }
}

/// What a newcomer looks for is where the section "Where to find" sends them: each name of a row stands in a file or folder of that row.
#[test]
fn what_the_document_finds_is_where_it_says() {
    let text = read(&root().join("ARCHITECTURE.md"));
    let (_, section) =
        text.split_once("\n## Where to find\n").expect("ARCHITECTURE.md has a section \"Where to find\"");
    let section = section.split("\n## ").next().unwrap();
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut count = 0;
    for row in section.lines().filter(|line| line.starts_with("| ")) {
        let words: Vec<&str> = row.split('`').skip(1).step_by(2).collect();
        let (places, names): (Vec<&str>, Vec<&str>) = words.iter().partition(|word| word.contains('/'));
        let places = places.iter().map(|place| root().join(place)).filter(|place| place.exists());
        let sources = places.flat_map(|place| match place.is_dir() {
            true => [files(&place, "rs"), files(&place, "py")].concat(),
            false => vec![place],
        });
        let found: String = sources.map(|path| read(&path)).collect();
        for name in names.iter().filter_map(|name| name.rsplit("::").next()).filter(|name| name.chars().all(is_name)) {
            count += 1;
            assert!(found.split(|c| !is_name(c)).any(|word| word == name), "{name} is not where this row says: {row}");
        }
    }
    assert!(count > 20, "only {count} names found: the test does not read what it should");
}

/// The modules at the top of a crate (a file or a folder), each with those that it imports by `crate::`.
fn imports(folder: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let src = folder.join("src");
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in files(&src, "rs").iter().filter(|path| !is_test(path)) {
        let inside = path.strip_prefix(&src).unwrap().with_extension("");
        let top = inside.components().next().unwrap().as_os_str().to_str().unwrap().to_string();
        let text = read(path);
        let text: String = text.split("#[cfg(test)]\nmod tests {").next().unwrap().lines().map(code).collect();
        let found = all.entry(top.clone()).or_default();
        found.extend(names_after(&text, "crate::").into_iter().filter(|name| *name != top));
    }
    let known: BTreeSet<String> = all.keys().cloned().collect();
    all.values_mut().for_each(|found| found.retain(|name| known.contains(name) && name != "lib"));
    all
}

#[test]
fn modules_of_a_crate_import_each_other_in_no_circle() {
    let mut circles = BTreeSet::new();
    for (folder, manifest) in manifests() {
        let mut reached = imports(&folder);
        // All that each module reaches: as many rounds as there are modules are enough.
        for _ in 0..reached.len() {
            let before = reached.clone();
            for found in reached.values_mut() {
                let further: Vec<String> = found.iter().flat_map(|name| before[name].iter().cloned()).collect();
                found.extend(further);
            }
        }
        for name in reached.keys() {
            let circle: Vec<String> = reached
                .keys()
                .filter(|other| reached[*other].contains(name) && reached[name].contains(*other))
                .cloned()
                .collect();
            if circle.len() > 1 && circle.contains(name) {
                circles.insert((name_of(&manifest).to_string(), circle));
            }
        }
    }
    assert!(circles.is_empty(), "circles of modules that import each other: {circles:?}");
}

/// Folders, and the modules that no file there imports: a family has nothing of another, nor a bootstrap of CKKS of the other.
const APART: [(&str, &[&str]); 18] = [
    ("crates/rlwe/src", &["ckks", "integer", "fhew"]),
    ("crates/schemes/src/ckks", &["integer", "fhew"]),
    ("crates/schemes/src/integer", &["ckks", "fhew"]),
    ("crates/schemes/src/fhew", &["ckks", "integer"]),
    ("crates/bootstrap/src/ckks", &["integer", "fhew"]),
    ("crates/bootstrap/src/integer", &["ckks", "fhew"]),
    ("crates/bootstrap/src/fhew", &["ckks", "integer"]),
    ("crates/bootstrap/src/ckks/ship", &["slots_first"]),
    ("crates/bootstrap/src/ckks/slots_first", &["ship"]),
    ("crates/aglet/src/ckks", &["integer", "fhew"]),
    ("crates/aglet/src/integer", &["ckks", "fhew"]),
    ("crates/aglet/src/fhew", &["ckks", "integer"]),
    ("crates/py/src/ckks", &["integer", "fhew"]),
    ("crates/py/src/integer", &["ckks", "fhew"]),
    ("crates/py/src/fhew", &["ckks", "integer"]),
    ("python/aglet/ckks", &["integer", "fhew"]),
    ("python/aglet/integer", &["ckks", "fhew"]),
    ("python/aglet/fhew", &["ckks", "integer"]),
];

/// What a path may begin with that leads to one of these modules.
const ROOTS: [&str; 7] = ["crate::", "super::", "aglet_schemes::", "aglet_bootstrap::", "aglet::", "ckks::", "aglet."];

/// The names that follow `from` in code: one, or each of a list in braces.
fn names_after(code: &str, from: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let first = |text: &str| text.trim().split(|c: char| !c.is_alphanumeric() && c != '_').next().map(str::to_string);
    for after in code.split(from).skip(1) {
        let Some(list) = after.strip_prefix('{') else {
            found.extend(first(after));
            continue;
        };
        let (mut depth, mut item) = (0, String::new());
        for c in list.chars() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => found.extend(first(&std::mem::take(&mut item))),
                _ if depth == 0 => item.push(c),
                _ => {}
            }
        }
        found.extend(first(&item));
    }
    found.remove("");
    found
}

#[test]
fn families_and_methods_import_nothing_of_each_other() {
    for (folder, apart) in APART {
        let extension = if folder.starts_with("python") { "py" } else { "rs" };
        let found = files(&root().join(folder), extension);
        assert!(!found.is_empty(), "{folder} has no files");
        for path in found.iter().filter(|path| !is_test(path)) {
            let text: String = read(path).lines().map(|line| code(line) + "\n").collect();
            let names: BTreeSet<String> = ROOTS.iter().flat_map(|from| names_after(&text, from)).collect();
            let other = apart.iter().find(|name| names.contains(**name));
            assert!(other.is_none(), "{} imports {other:?}", path.display());
        }
    }
}

#[test]
fn names_are_found_in_every_form_of_an_import() {
    let names = |code: &str| names_after(code, "crate::").into_iter().collect::<Vec<_>>().join(" ");
    assert_eq!(names("use crate::ckks;"), "ckks");
    assert_eq!(names("let x = crate::ckks::Engine::new();"), "ckks");
    assert_eq!(names("use crate::{\n    a::{B, C},\n    ckks,\n    fhew::{self},\n};"), "a ckks fhew");
}
