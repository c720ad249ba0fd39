//! Stand-ins.
use super::Values;

#[derive(Debug)]
pub enum Drawn {
    Stop,
}

#[derive(Debug, Default)]
pub struct Feeds;
impl Feeds {
    pub fn draw(&mut self, _feed: usize, _user: u64, _values: &mut Values) -> Result<(), Drawn> {
        Ok(())
    }
}
