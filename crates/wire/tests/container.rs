//! The container with a family of its own: what is written comes back, and whatever else stands there is an error.

use aglet_ring::Modulus;
use aglet_rlwe::{Control, KeyId};
use aglet_wire::{
    count, unknown, Error, Family, Format, FormatError, Kind, Origin, Reader, Shape, Stored, Words, Writer,
};
use zeroize::Zeroizing;

/// Largest length of a column.
const MOST: usize = 1 << 18;

/// Columns of residues modulo one prime.
struct Columns {
    modulus: Modulus,
    slots: usize,
}

impl Origin for Columns {
    const FAMILY: &'static str = "columns";
    type Error = Error;

    fn fingerprint(&self) -> [u8; 32] {
        [(self.modulus.value() % 251) as u8; 32]
    }
    fn slots(&self) -> usize {
        self.slots
    }
    fn literal(&self) -> Result<String, Error> {
        Ok(format!("modulus = {}", self.modulus.value()))
    }
    fn other_parameters(&self, _: &'static str, literal: &str) -> Error {
        FormatError::Unusable { reason: literal.to_string() }.into()
    }
    fn other_slots(&self, _: &'static str, slots: u64) -> Error {
        FormatError::Slots { slots: slots as usize }.into()
    }
}

/// A note of bytes and a column.
#[derive(Debug, PartialEq, Clone)]
struct Column {
    note: Vec<u8>,
    values: Vec<u64>,
}

impl Stored<Columns> for Column {
    const KIND: Kind = Kind { tag: 300, name: "column" };
    const SLOTS: bool = true;
    const SECRET: bool = true;

    fn id(&self) -> KeyId {
        KeyId(7)
    }
    fn words(&self) -> Vec<u64> {
        vec![self.note.len() as u64, self.values.len() as u64]
    }
    fn shapes(origin: &Columns, w: &Words) -> Result<Vec<Shape>, Error> {
        // A refusal of its own, which the container turns into a fault of the bytes.
        if w[0] > 1000 {
            return Err(Error::Written { kind: Self::KIND.name });
        }
        let count = count::<Columns, Self>(w[1], 0, MOST, "a length")?;
        Ok(vec![Shape::Bytes(w[0] as usize), Shape::Residues { modulus: origin.modulus, count }])
    }
    fn put(&self, _: &Columns, out: &mut Writer<'_>) -> Result<(), Error> {
        out.bytes(Zeroizing::new(self.note.clone()))?;
        out.residues(&self.values)
    }
    fn take(_: &Columns, id: KeyId, _: &Words, parts: &mut Reader<'_>) -> Result<Self, Error> {
        if id != KeyId(7) {
            return unknown::<Columns, Self, _>("an id");
        }
        Ok(Self { note: parts.bytes()?.to_vec(), values: parts.residues()? })
    }
}

const FAMILIES: [Family; 2] = [
    Family {
        name: Columns::FAMILY,
        said: "columns",
        kinds: &[Column::KIND],
        finer: |_, w| (w[1] == 0).then_some("note"),
    },
    Family { name: "rows", said: "rows of users", kinds: &[Column::KIND], finer: |_, _| None },
];
const FORMAT: Format = Format { families: &FAMILIES, memory_available: || Some(1 << 20) };

fn columns() -> Columns {
    Columns { modulus: Modulus::new(65537).unwrap(), slots: 4 }
}

fn column() -> Column {
    Column { note: b"eight".to_vec(), values: (0..16).map(|i| i * 4001).collect() }
}

fn bytes_of(x: &Column) -> Vec<u8> {
    FORMAT.serialize(&columns(), x, &Control::new()).unwrap().to_vec()
}

fn read(bytes: &[u8]) -> Result<Column, Error> {
    FORMAT.deserialize(&columns(), bytes, &Control::new())
}

#[test]
fn bytes_and_files_are_alike_and_come_back() {
    let (x, bytes) = (column(), bytes_of(&column()));
    assert_eq!(read(&bytes).unwrap(), x);
    let (summary, empty) = (FORMAT.summary(&bytes).unwrap(), Column { values: vec![], ..column() });
    assert_eq!((summary.kind, summary.slots, &summary.literal[..]), (Column::KIND, 4, "modulus = 65537"));
    assert_eq!((FORMAT.name(&bytes).unwrap(), FORMAT.name(&bytes_of(&empty)).unwrap()), ("column", "note"));

    let path = std::env::temp_dir().join(format!("aglet-wire-{}", std::process::id()));
    FORMAT.write(&columns(), &x, &path, &Control::new()).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    let again: Column = FORMAT.read(&columns(), &path, &Control::new()).unwrap();
    assert_eq!((again, FORMAT.name_of_file(&path).unwrap()), (x, "column"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o77, 0, "others can read a secret");
    }
    std::fs::remove_file(&path).unwrap();
    let missing = FORMAT.read::<_, Column>(&columns(), &path, &Control::new());
    assert!(matches!(missing, Err(Error::File { doing: "reading", .. })));
}

#[test]
fn every_flipped_bit_and_every_cut_is_an_error() {
    let bytes = bytes_of(&column());
    for bit in 0..8 * bytes.len() {
        let mut other = bytes.clone();
        other[bit / 8] ^= 1 << (bit % 8);
        assert!(read(&other).is_err(), "bit {bit}");
    }
    assert!((0..bytes.len()).all(|length| read(&bytes[..length]).is_err()));
    assert!(matches!(read(&[&bytes[..], &[0]].concat()), Err(Error::Format(FormatError::Long { more: 1, .. }))));
}

/// The bytes with other words in their header, whose checksum is made again, as everybody can.
fn forged(bytes: &[u8], word: usize, value: u64) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[152 + 8 * word..160 + 8 * word].copy_from_slice(&value.to_le_bytes());
    let seal = *blake3::hash(&bytes[..224]).as_bytes();
    bytes[224..256].copy_from_slice(&seal);
    bytes
}

#[test]
fn forged_headers_allocate_nothing_and_say_what_is_wrong() {
    let bytes = bytes_of(&column());
    let what = |word, value| match read(&forged(&bytes, word, value)) {
        Err(Error::Format(fault)) => fault,
        other => panic!("{other:?}"),
    };
    assert!(matches!(what(0, 1 << 60), FormatError::CannotBe { kind: "column", .. }));
    assert!(matches!(what(1, 1 << 60), FormatError::Unknown { what: "a length", .. }));
    assert!(matches!(what(1, 24), FormatError::OtherParts { .. }));
    // The shapes stay, and the seal of every section is another one.
    assert!(matches!(what(8, 1), FormatError::Damaged { .. }));
}

#[test]
fn things_of_another_origin_are_refused() {
    let bytes = bytes_of(&column());
    let foreign = |modulus, slots| {
        let origin = Columns { modulus: Modulus::new(modulus).unwrap(), slots };
        FORMAT.deserialize::<_, Column>(&origin, &bytes, &Control::new()).unwrap_err().to_string()
    };
    assert!(foreign(40961, 4).contains("modulus = 65537") && foreign(65537, 8).contains("4 slots"));
    let family = FORMAT.check_family(Column::KIND, "columns", "rows").unwrap_err().to_string();
    assert!(family.contains("\"columns\"") && family.contains("\"rows of users\""), "{family}");
    // A column that is longer than it says.
    struct Liar(Column);
    impl Stored<Columns> for Liar {
        const KIND: Kind = Column::KIND;
        const SLOTS: bool = true;
        fn id(&self) -> KeyId {
            self.0.id()
        }
        fn words(&self) -> Vec<u64> {
            vec![5, 8]
        }
        fn shapes(origin: &Columns, w: &Words) -> Result<Vec<Shape>, Error> {
            Column::shapes(origin, w)
        }
        fn put(&self, origin: &Columns, out: &mut Writer<'_>) -> Result<(), Error> {
            self.0.put(origin, out)
        }
        fn take(origin: &Columns, id: KeyId, w: &Words, parts: &mut Reader<'_>) -> Result<Self, Error> {
            Column::take(origin, id, w, parts).map(Self)
        }
    }
    let lie = FORMAT.serialize(&columns(), &Liar(column()), &Control::new()).err().unwrap();
    assert!(matches!(lie, Error::Written { kind: "column" }));
}

#[test]
fn work_stops_and_memory_is_forecast() {
    let stopped = Control::new();
    stopped.cancel();
    let stop = FORMAT.serialize(&columns(), &column(), &stopped).err().unwrap();
    assert!(matches!(stop, Error::Rlwe(aglet_rlwe::Error::Cancelled)));
    let large = bytes_of(&Column { note: vec![], values: vec![0; MOST] });
    assert!(
        matches!(read(&large), Err(Error::Memory { needed, available, .. }) if needed == 8 << 18 && available == 1 << 20)
    );
}
