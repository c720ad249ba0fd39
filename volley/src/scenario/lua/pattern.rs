//! Lua's patterns. LuaJIT's own functions can take a pattern such as `.-.-.-x` for years, and nothing ends them.

/// The most captures of a pattern, and how deep its parts may be nested.
const MOST_CAPTURES: usize = 32;
const MOST_DEPTH: usize = 200;

/// Steps between two looks at the clock.
const STEPS: u32 = 1 << 14;

/// A pattern, made ready.
#[derive(Clone, Debug)]
pub struct Pattern {
    items: Vec<Item>,
    /// It matches at one place only.
    is_anchored: bool,
}

#[derive(Clone, Debug)]
enum Item {
    One(Set),
    Optional(Set),
    /// As often as possible, at least so often.
    Many(Set, usize),
    /// As seldom as possible.
    Few(Set),
    Open {
        is_position: bool,
    },
    Close,
    /// `%1`: what a capture has.
    Same(usize),
    /// `%b()`
    Balanced(u8, u8),
    /// `%f[set]`
    Frontier(Set),
    /// `$`
    End,
}

/// A set of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Set([u64; 4]);

/// What a capture has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capture {
    /// From, and behind.
    Text(usize, usize),
    Position(usize),
    /// It is not closed.
    Open(usize),
}

/// Where a pattern matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Match {
    pub start: usize,
    pub end: usize,
    pub captures: Vec<Capture>,
}

/// Why a search came to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It takes too long.
    Late,
    Complex,
    /// It names a capture that is not there, or is not closed.
    Capture,
}

impl Set {
    fn of(is: impl Fn(u8) -> bool) -> Self {
        let mut set = Self::default();
        for byte in (0..=u8::MAX).filter(|byte| is(*byte)) {
            set.add(byte);
        }
        set
    }

    fn add(&mut self, byte: u8) {
        if let Some(word) = self.0.get_mut(usize::from(byte >> 6)) {
            *word |= 1 << (byte & 63);
        }
    }

    fn has(&self, byte: u8) -> bool {
        let word = self.0.get(usize::from(byte >> 6)).copied().unwrap_or(0);
        word >> (byte & 63) & 1 == 1
    }

    fn join(&mut self, other: Self) {
        for (word, more) in self.0.iter_mut().zip(other.0) {
            *word |= more;
        }
    }

    fn inverse(self) -> Self {
        Self(self.0.map(|word| !word))
    }

    /// What `%` and a byte stand for.
    fn class(byte: u8) -> Self {
        let set = match byte.to_ascii_lowercase() {
            b'a' => Self::of(|byte| byte.is_ascii_alphabetic()),
            b'c' => Self::of(|byte| byte.is_ascii_control()),
            b'd' => Self::of(|byte| byte.is_ascii_digit()),
            b'g' => Self::of(|byte| byte.is_ascii_graphic()),
            b'l' => Self::of(|byte| byte.is_ascii_lowercase()),
            b'p' => Self::of(|byte| byte.is_ascii_punctuation()),
            b's' => Self::of(|byte| matches!(byte, b' ' | 9..=13)),
            b'u' => Self::of(|byte| byte.is_ascii_uppercase()),
            b'w' => Self::of(|byte| byte.is_ascii_alphanumeric()),
            b'x' => Self::of(|byte| byte.is_ascii_hexdigit()),
            b'z' => Self::of(|byte| byte == 0),
            _ => return Self::of(|other| other == byte),
        };
        match byte.is_ascii_uppercase() {
            true => set.inverse(),
            false => set,
        }
    }
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn new(pattern: &[u8]) -> Result<Self, &'static str> {
        let is_anchored = pattern.first() == Some(&b'^');
        let mut rest = match is_anchored {
            true => pattern.get(1..).unwrap_or_default(),
            false => pattern,
        };
        let (mut items, mut open, mut captures) = (Vec::new(), 0_usize, 0);
        while let Some((&first, after)) = rest.split_first() {
            let next = after.first().copied();
            match (first, next) {
                (b'(', _) => {
                    let is_position = next == Some(b')');
                    rest = after.get(usize::from(is_position)..).unwrap_or_default();
                    open += usize::from(!is_position);
                    captures += 1;
                    if captures > MOST_CAPTURES {
                        return Err("too many captures");
                    }
                    items.push(Item::Open { is_position });
                    continue;
                }
                (b')', _) => {
                    open = open.checked_sub(1).ok_or("invalid pattern capture")?;
                    rest = after;
                    items.push(Item::Close);
                    continue;
                }
                (b'$', None) => {
                    rest = after;
                    items.push(Item::End);
                    continue;
                }
                (b'%', Some(b'b')) => {
                    let [_, from, to, behind @ ..] = after else {
                        return Err("malformed pattern (missing arguments to '%b')");
                    };
                    items.push(Item::Balanced(*from, *to));
                    rest = behind;
                    continue;
                }
                (b'%', Some(b'f')) => {
                    let behind = after.get(1..).unwrap_or_default();
                    if behind.first() != Some(&b'[') {
                        return Err("missing '[' after '%f' in pattern");
                    }
                    let (set, behind) = single(behind)?;
                    items.push(Item::Frontier(set));
                    rest = behind;
                    continue;
                }
                (b'%', Some(digit @ b'0'..=b'9')) => {
                    let number = usize::from(digit - b'0').checked_sub(1);
                    items.push(Item::Same(number.ok_or("invalid capture index")?));
                    rest = after.get(1..).unwrap_or_default();
                    continue;
                }
                _ => {}
            }
            let (set, behind) = single(rest)?;
            let (item, used) = match behind.first() {
                Some(b'?') => (Item::Optional(set), 1),
                Some(b'*') => (Item::Many(set, 0), 1),
                Some(b'+') => (Item::Many(set, 1), 1),
                Some(b'-') => (Item::Few(set), 1),
                _ => (Item::One(set), 0),
            };
            items.push(item);
            rest = behind.get(used..).unwrap_or_default();
        }
        Ok(Self { items, is_anchored })
    }

    /// The first match from a place on.
    ///
    /// # Errors
    ///
    /// It was given up. `is_late` is asked now and then.
    pub fn find(
        &self,
        subject: &[u8],
        from: usize,
        is_late: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Match>, Stop> {
        let mut search = Search {
            subject,
            items: &self.items,
            captures: Vec::new(),
            depth: 0,
            steps: 0,
            is_late,
        };
        let last = match self.is_anchored {
            true => from,
            false => subject.len(),
        };
        for start in from..=last {
            search.captures.clear();
            if let Some(end) = search.run(start, 0)? {
                let captures = search.captures;
                if captures
                    .iter()
                    .any(|capture| matches!(capture, Capture::Open(_)))
                {
                    return Err(Stop::Capture);
                }
                return Ok(Some(Match {
                    start,
                    end,
                    captures,
                }));
            }
        }
        Ok(None)
    }
}

/// The set that a pattern begins with, and what follows it.
fn single(pattern: &[u8]) -> Result<(Set, &[u8]), &'static str> {
    match pattern {
        [b'.', rest @ ..] => Ok((Set::of(|_| true), rest)),
        [b'%', class, rest @ ..] => Ok((Set::class(*class), rest)),
        [b'%'] => Err("malformed pattern (ends with '%')"),
        [b'[', rest @ ..] => set(rest),
        [byte, rest @ ..] => Ok((Set::of(|other| other == *byte), rest)),
        [] => Err("malformed pattern"),
    }
}

/// A set in brackets. The first byte behind `[` or `[^` is one of it, even `]`.
fn set(pattern: &[u8]) -> Result<(Set, &[u8]), &'static str> {
    const MISSING: &str = "malformed pattern (missing ']')";
    let (is_inverse, mut rest) = match pattern {
        [b'^', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let mut all = Set::default();
    let mut is_first = true;
    loop {
        rest = match rest {
            [] => return Err(MISSING),
            [b']', behind @ ..] if !is_first => {
                let all = if is_inverse { all.inverse() } else { all };
                return Ok((all, behind));
            }
            [b'%', class, behind @ ..] => {
                all.join(Set::class(*class));
                behind
            }
            [b'%'] => return Err(MISSING),
            [from, b'-', to, behind @ ..] if *to != b']' => {
                all.join(Set::of(|byte| (*from..=*to).contains(&byte)));
                behind
            }
            [byte, behind @ ..] => {
                all.add(*byte);
                behind
            }
        };
        is_first = false;
    }
}

/// A match that is looked for.
struct Search<'a> {
    subject: &'a [u8],
    items: &'a [Item],
    captures: Vec<Capture>,
    depth: usize,
    steps: u32,
    is_late: &'a mut dyn FnMut() -> bool,
}

impl Search<'_> {
    fn step(&mut self) -> Result<(), Stop> {
        self.steps = self.steps.wrapping_add(1);
        match self.steps.is_multiple_of(STEPS) && (self.is_late)() {
            true => Err(Stop::Late),
            false => Ok(()),
        }
    }

    fn has(&self, at: usize, set: &Set) -> bool {
        self.subject.get(at).is_some_and(|byte| set.has(*byte))
    }

    /// Where the items from one on end, if they match at a place.
    fn run(&mut self, at: usize, item: usize) -> Result<Option<usize>, Stop> {
        if self.depth >= MOST_DEPTH {
            return Err(Stop::Complex);
        }
        self.depth += 1;
        let end = self.follow(at, item);
        self.depth -= 1;
        end
    }

    fn follow(&mut self, mut at: usize, mut item: usize) -> Result<Option<usize>, Stop> {
        let items = self.items;
        while let Some(next) = items.get(item) {
            self.step()?;
            match next {
                Item::One(set) if self.has(at, set) => at += 1,
                Item::One(_) => return Ok(None),
                Item::Optional(set) => {
                    if self.has(at, set)
                        && let Some(end) = self.run(at + 1, item + 1)?
                    {
                        return Ok(Some(end));
                    }
                }
                Item::Many(set, least) => return self.many(at, item, set, *least),
                Item::Few(set) => loop {
                    self.step()?;
                    if let Some(end) = self.run(at, item + 1)? {
                        return Ok(Some(end));
                    }
                    if !self.has(at, set) {
                        return Ok(None);
                    }
                    at += 1;
                },
                Item::Open { is_position } => {
                    self.captures.push(match is_position {
                        true => Capture::Position(at),
                        false => Capture::Open(at),
                    });
                    let end = self.run(at, item + 1)?;
                    if end.is_none() {
                        self.captures.pop();
                    }
                    return Ok(end);
                }
                Item::Close => {
                    let mut open = self.captures.iter().enumerate().rev();
                    let open = open.find_map(|(number, capture)| match capture {
                        Capture::Open(from) => Some((number, *from)),
                        _ => None,
                    });
                    let (number, from) = open.ok_or(Stop::Capture)?;
                    self.put(number, Capture::Text(from, at));
                    let end = self.run(at, item + 1)?;
                    if end.is_none() {
                        self.put(number, Capture::Open(from));
                    }
                    return Ok(end);
                }
                Item::Same(number) => {
                    let Some(Capture::Text(from, to)) = self.captures.get(*number).copied() else {
                        return Err(Stop::Capture);
                    };
                    let same = self.subject.get(from..to).unwrap_or_default();
                    let here = self.subject.get(at..).unwrap_or_default();
                    if !here.starts_with(same) {
                        return Ok(None);
                    }
                    at += same.len();
                }
                Item::Balanced(open, close) => match self.balanced(at, *open, *close)? {
                    Some(end) => at = end,
                    None => return Ok(None),
                },
                Item::Frontier(set) => {
                    let byte = |at: Option<usize>| at.and_then(|at| self.subject.get(at)).copied();
                    let before = byte(at.checked_sub(1)).unwrap_or(0);
                    let here = byte(Some(at)).unwrap_or(0);
                    if set.has(before) || !set.has(here) {
                        return Ok(None);
                    }
                }
                Item::End if at == self.subject.len() => {}
                Item::End => return Ok(None),
            }
            item += 1;
        }
        Ok(Some(at))
    }

    fn many(
        &mut self,
        at: usize,
        item: usize,
        set: &Set,
        least: usize,
    ) -> Result<Option<usize>, Stop> {
        let mut count = 0;
        while self.has(at + count, set) {
            self.step()?;
            count += 1;
        }
        while count >= least {
            if let Some(end) = self.run(at + count, item + 1)? {
                return Ok(Some(end));
            }
            self.step()?;
            let Some(fewer) = count.checked_sub(1) else {
                break;
            };
            count = fewer;
        }
        Ok(None)
    }

    fn balanced(&mut self, at: usize, open: u8, close: u8) -> Result<Option<usize>, Stop> {
        if self.subject.get(at) != Some(&open) {
            return Ok(None);
        }
        let mut depth = 1;
        for (place, byte) in self.subject.iter().enumerate().skip(at + 1) {
            self.step()?;
            if *byte == close {
                depth -= 1;
                if depth == 0 {
                    return Ok(Some(place + 1));
                }
            } else if *byte == open {
                depth += 1;
            }
        }
        Ok(None)
    }

    fn put(&mut self, number: usize, capture: Capture) {
        if let Some(place) = self.captures.get_mut(number) {
            *place = capture;
        }
    }
}
