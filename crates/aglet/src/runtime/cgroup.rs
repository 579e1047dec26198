//! The memory that a container leaves to its processes: the limits of Linux control groups, of version 1 and 2. Beyond them
//! the system ends a process, whatever the machine has.

use std::fs;
use std::path::{Path, PathBuf};

/// The limit of the closest group, or of the one around it that has least left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// The lowest limit.
    pub total: u64,
    /// What is left below a limit: pages of files that nobody uses are given up first and do not count.
    pub available: u64,
}

/// Names of the files of a version.
struct Version {
    filesystem: &'static str,
    limit: &'static str,
    usage: &'static str,
    unused: &'static str,
}

const VERSIONS: [Version; 2] = [
    Version { filesystem: "cgroup2", limit: "memory.max", usage: "memory.current", unused: "inactive_file" },
    Version {
        filesystem: "cgroup",
        limit: "memory.limit_in_bytes",
        usage: "memory.usage_in_bytes",
        unused: "total_inactive_file",
    },
];

/// What the groups of this process leave; `None` without limits. `root` is `/`, but in tests.
pub fn memory(root: &Path) -> Option<Memory> {
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).ok()?;
    let mounts = fs::read_to_string(root.join("proc/self/mountinfo")).ok()?;
    let limits = VERSIONS.iter().flat_map(|version| {
        let folders = group(&groups, version).and_then(|group| folders(&mounts, version, group)).unwrap_or_default();
        folders.into_iter().filter_map(|folder| limit(&root.join(folder), version))
    });
    limits.reduce(|a, b| Memory { total: a.total.min(b.total), available: a.available.min(b.available) })
}

/// The group of the process: `number:controllers:group`, without controllers in version 2.
fn group<'a>(groups: &'a str, version: &Version) -> Option<&'a str> {
    let fields = groups.lines().filter_map(|line| line.split_once(':')?.1.split_once(':'));
    let mut own = fields.filter(|(controllers, _)| match version.filesystem {
        "cgroup2" => controllers.is_empty(),
        _ => controllers.split(',').any(|name| name == "memory"),
    });
    own.next().map(|(_, group)| group)
}

/// The folders of a group and of all around it, relative to the root, as far as they are mounted:
/// `id parent device root place options ... - filesystem source options`.
fn folders(mounts: &str, version: &Version, group: &str) -> Option<Vec<PathBuf>> {
    for line in mounts.lines() {
        let Some((mount, filesystem)) = line.split_once(" - ") else { continue };
        let mut about = filesystem.split(' ');
        let fits = about.next() == Some(version.filesystem)
            && (version.filesystem == "cgroup2" || about.nth(1)?.split(',').any(|option| option == "memory"));
        let mut fields = mount.split(' ').skip(3);
        let (true, Some(top), Some(place)) = (fits, fields.next(), fields.next()) else { continue };
        // A container may see its group under its name outside, and its folder mounted as all there is.
        let below = Path::new(group).strip_prefix(top).unwrap_or(Path::new(""));
        let place = Path::new(place.trim_start_matches('/'));
        return Some(below.ancestors().map(|part| place.join(part)).collect());
    }
    None
}

/// The limit of a group, if it has one.
fn limit(folder: &Path, version: &Version) -> Option<Memory> {
    let number = |file: &str| fs::read_to_string(folder.join(file)).ok()?.trim().parse::<u64>().ok();
    // Without a limit version 2 says "max", and version 1 the largest number of pages.
    let total = number(version.limit).filter(|&total| total < 1 << 62)?;
    let used = number(version.usage).unwrap_or(0);
    let stat = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let unused = stat.lines().find_map(|line| line.strip_prefix(version.unused)?.trim().parse::<u64>().ok());
    Some(Memory { total, available: total.saturating_sub(used.saturating_sub(unused.unwrap_or(0))) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A system made of files.
    fn system(name: &str, files: &[(&str, &str)]) -> Option<Memory> {
        let root = std::env::temp_dir().join(format!("aglet-cgroup-{name}-{}", std::process::id()));
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let found = memory(&root);
        let _ = fs::remove_dir_all(&root);
        found
    }

    const V2: &str = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";
    const V1: &str = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n\
                      34 31 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                      35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";

    #[test]
    fn the_tightest_group_of_version_2_counts() {
        let found = system(
            "v2",
            &[
                ("proc/self/cgroup", "0::/user/job\n"),
                ("proc/self/mountinfo", V2),
                ("sys/fs/cgroup/user/job/memory.max", "max\n"),
                ("sys/fs/cgroup/user/job/memory.current", "5\n"),
                ("sys/fs/cgroup/user/memory.max", "8000\n"),
                ("sys/fs/cgroup/user/memory.current", "3000\n"),
                ("sys/fs/cgroup/user/memory.stat", "anon 100\nfile 900\ninactive_file 500\nactive_file 400\n"),
            ],
        );
        assert_eq!(found, Some(Memory { total: 8000, available: 5500 }));
    }

    #[test]
    fn version_1_has_its_own_files_and_names_groups_from_outside() {
        let files = |mounts| {
            [
                ("proc/self/cgroup", "4:cpu:/\n3:memory,hugetlb:/docker/abc\n0::/\n"),
                ("proc/self/mountinfo", mounts),
                ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
                ("sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "4000\n"),
                ("sys/fs/cgroup/memory/docker/abc/memory.usage_in_bytes", "4500\n"),
            ]
        };
        assert_eq!(system("v1", &files(V1)), Some(Memory { total: 4000, available: 0 }));
        // The container's own folder, mounted as all there is; its files lie at the top.
        let inside = V1.replace("0:32 /", "0:32 /docker/abc");
        let mut files = files(&inside).to_vec();
        files[2].1 = "7000\n";
        files.push(("sys/fs/cgroup/memory/memory.usage_in_bytes", "1000\n"));
        files.push(("sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 400\n"));
        assert_eq!(system("inside", &files), Some(Memory { total: 7000, available: 6400 }));
    }

    #[test]
    fn without_limits_there_are_none() {
        assert_eq!(system("none", &[("proc/self/cgroup", "0::/\n"), ("proc/self/mountinfo", V2)]), None);
        assert_eq!(system("nothing", &[("proc/self/stat", "")]), None);
    }
}
