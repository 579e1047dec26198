//! Numbers out of the tables of documents, so that tests hold what is written there.

/// The numbers of a row: the first one in each cell behind that with the name, none where a cell begins with another word.
///
/// # Panics
/// If the section of that heading has no such row.
pub fn row(document: &str, heading: &str, name: &str) -> Vec<Option<f64>> {
    let section = document.lines().skip_while(|line| line.trim() != heading).skip(1);
    let mut rows = section.take_while(|line| !line.starts_with("## ")).filter_map(|line| {
        let mut cells = line.strip_prefix('|')?.trim_end().strip_suffix('|')?.split('|').map(str::trim);
        (cells.next()? == name).then(|| cells.map(number).collect())
    });
    rows.next().unwrap_or_else(|| panic!("there is no row {name} under {heading}"))
}

/// What a cell begins with.
fn number(cell: &str) -> Option<f64> {
    let end = cell.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(cell.len());
    cell[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::row;

    #[test]
    fn the_row_of_the_section_is_taken() {
        let text =
            "# A\n\n| x | y |\n|---|---|\n| one | 1.5 bits | - |\n## B\n| one | 24.9 (25.0) | 2 | 10, 13 |\n## C\n";
        assert_eq!(row(text, "# A", "one"), [Some(1.5), None]);
        assert_eq!(row(text, "## B", "one"), [Some(24.9), Some(2.0), Some(10.0)]);
        assert!(std::panic::catch_unwind(|| row(text, "## C", "one")).is_err());
    }
}
