//! Numbers as sentences show them.

/// Six significant digits, as `%g` of C and Python gives them: 512, 0.0625, 2.7e+16.
pub fn significant(x: f64) -> String {
    let in_powers = format!("{x:.5e}");
    let Some((mantissa, exponent)) = in_powers.split_once('e') else { return x.to_string() };
    let trimmed = |digits: &str| match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => digits.to_string(),
    };
    match exponent.parse::<i32>() {
        Ok(e @ -4..=5) => trimmed(&format!("{x:.*}", (5 - e).unsigned_abs() as usize)),
        Ok(e) => format!("{}e{}{:02}", trimmed(mantissa), if e < 0 { '-' } else { '+' }, e.abs()),
        Err(_) => x.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::significant;

    #[test]
    fn numbers_have_six_digits() {
        for (x, shown) in [
            (512.0, "512"),
            (511.999_999_9, "512"),
            (0.0625, "0.0625"),
            (-1.25, "-1.25"),
            (0.0, "0"),
            (100_000.0, "100000"),
            (999_999.6, "1e+06"),
            (123_456.7, "123457"),
            (2.7e16, "2.7e+16"),
            (1.0 / 3.0, "0.333333"),
            (0.000_123_456_78, "0.000123457"),
            (1.5e-5, "1.5e-05"),
            (1e300, "1e+300"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(significant(x), shown);
        }
    }
}
