//! Rows in memory.

/// Rows of fields, one after another in one buffer.
#[derive(Debug, Default)]
pub(super) struct Rows {
    bytes: Vec<u8>,
    /// The end of each field in `bytes`.
    ends: Vec<u32>,
    columns: usize,
    count: usize,
}

impl Rows {
    pub(super) fn new(columns: usize) -> Self {
        Self {
            columns,
            ..Self::default()
        }
    }

    /// Forgets the rows, and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.count = 0;
    }

    /// Adds a field to the row that is being written.
    pub(super) fn push(&mut self, field: &[u8]) {
        self.bytes.extend_from_slice(field);
        self.ends
            .push(u32::try_from(self.bytes.len()).unwrap_or(u32::MAX));
    }

    /// Ends the row that is being written.
    pub(super) fn end_row(&mut self) {
        self.count += 1;
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The fields of a row; `None` if there is no such row.
    #[inline]
    pub(super) fn get(&self, row: usize) -> Option<impl Iterator<Item = &[u8]>> {
        let first = row.checked_mul(self.columns)?;
        let ends = self
            .ends
            .get(first..first + self.columns)
            .filter(|_| row < self.count)?;
        let before = first
            .checked_sub(1)
            .and_then(|before| self.ends.get(before));
        let mut start = before.map_or(0, |end| *end as usize);
        Some(ends.iter().map(move |end| {
            let field = self.bytes.get(start..*end as usize).unwrap_or_default();
            start = *end as usize;
            field
        }))
    }

    /// Bytes that it occupies.
    pub(super) fn kept(&self) -> usize {
        self.bytes.capacity() + self.ends.capacity() * size_of::<u32>()
    }

    pub(super) fn shrink(&mut self) {
        self.bytes.shrink_to_fit();
        self.ends.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_the_fields_that_were_pushed() {
        let mut rows = Rows::new(2);
        for row in [["a", ""], ["", "bc"]] {
            for field in row {
                rows.push(field.as_bytes());
            }
            rows.end_row();
        }
        let get = |row| Some(rows.get(row)?.map(<[u8]>::to_vec).collect::<Vec<_>>());
        assert_eq!(get(0), Some(vec![b"a".to_vec(), vec![]]));
        assert_eq!(get(1), Some(vec![vec![], b"bc".to_vec()]));
        assert_eq!(get(2), None);
    }

    #[test]
    fn rows_without_columns_are_counted() {
        let mut rows = Rows::new(0);
        rows.end_row();
        assert!(rows.get(0).is_some() && rows.get(1).is_none());
    }
}
