//! What an X.509 certificate has (RFC 5280): only as far as webpki does not say it, or does not read it.

use std::ops::Range;

const SEQUENCE: u8 = 0x30;
const BOOLEAN: u8 = 0x01;
const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const OCTET_STRING: u8 = 0x04;
const OID: u8 = 0x06;
const VERSION: u8 = 0xa0;
const EXTENSIONS: u8 = 0xa3;

const BASIC_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 0x13];
const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
const EC: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
const P256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
const P384: &[u8] = &[0x2b, 0x81, 0x04, 0x00, 0x22];
const P521: &[u8] = &[0x2b, 0x81, 0x04, 0x00, 0x23];
const ED25519: &[u8] = &[0x2b, 0x65, 0x70];

/// Signatures that webpki and ring do not check.
const ODD_SIGNATURES: [(&[u8], &str); 4] = [
    (
        &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x04],
        "RSA and MD5",
    ),
    (
        &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x05],
        "RSA and SHA-1",
    ),
    (
        &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x01],
        "ECDSA and SHA-1",
    ),
    (
        &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x04],
        "ECDSA and SHA-512",
    ),
];

/// The shortest RSA keys that ring takes, and the longest, in bits.
const RSA_BITS: Range<usize> = 2048..8193;

/// A certificate, and where its parts are.
pub struct Certificate<'a> {
    der: &'a [u8],
    /// What is signed.
    pub signed: Range<usize>,
    version: u8,
    algorithm: Range<usize>,
    issuer: Range<usize>,
    subject: Range<usize>,
    key: Range<usize>,
    extensions: Option<Range<usize>>,
}

/// Reads one element of DER after another.
struct Elements<'a> {
    der: &'a [u8],
    rest: Range<usize>,
}

/// An element: all of it, and its content.
#[derive(Clone)]
struct Element {
    tag: u8,
    whole: Range<usize>,
    content: Range<usize>,
}

impl<'a> Certificate<'a> {
    /// `None`: it is none.
    pub fn read(der: &'a [u8]) -> Option<Self> {
        let within = |rest| Elements { der, rest };
        let mut outer = within(0..der.len()).only(SEQUENCE)?;
        let signed = outer.next_of(SEQUENCE)?;
        let mut fields = outer.within(&signed);
        let version = match fields.next_if(VERSION) {
            None => 1,
            Some(version) => {
                let number = fields.within(&version).next_of(INTEGER)?;
                der.get(number.content)?.last()?.checked_add(1)?
            }
        };
        fields.next_of(INTEGER)?;
        let algorithm = fields.next_of(SEQUENCE)?;
        let algorithm = fields.within(&algorithm).next_of(OID)?.content;
        let issuer = fields.next_of(SEQUENCE)?.content;
        fields.next_of(SEQUENCE)?;
        let subject = fields.next_of(SEQUENCE)?.content;
        let key = fields.next_of(SEQUENCE)?.content;
        let extensions = std::iter::from_fn(|| fields.next());
        let extensions = extensions.filter(|one| one.tag == EXTENSIONS).last();
        Some(Self {
            der,
            signed: signed.whole,
            version,
            algorithm,
            issuer,
            subject,
            key,
            extensions: extensions.map(|all| all.content),
        })
    }

    /// Why volley cannot check whether it is signed, in words that follow "the certificate".
    pub fn odd_form(&self) -> Option<String> {
        if self.version != 3 {
            return Some(format!("is of X.509 version {}", self.version));
        }
        let signature = self.der.get(self.algorithm.clone());
        let mut odd = ODD_SIGNATURES.iter();
        odd.find(|(oid, _)| Some(*oid) == signature)
            .map(|(_, words)| format!("is signed with {words}"))
    }

    /// Why volley cannot check what is signed with its key, in the same words.
    pub fn odd_key(&self) -> Option<String> {
        let mut parts = self.within(self.key.clone());
        let algorithm = parts.next_of(SEQUENCE)?;
        let mut algorithm = parts.within(&algorithm);
        let kind = algorithm.next_of(OID)?;
        let kind = self.der.get(kind.content)?;
        if kind == EC {
            let curve = algorithm
                .next()
                .and_then(|curve| self.der.get(curve.content));
            return match curve {
                Some(P256 | P384) => None,
                Some(P521) => Some("has an ECDSA key on the curve P-521".to_owned()),
                _ => Some("has an ECDSA key on a rare curve".to_owned()),
            };
        }
        if kind == RSA {
            let key = parts.next_of(BIT_STRING)?.content;
            let key = key.start.checked_add(1)?..key.end;
            let modulus = self.within(key).only(SEQUENCE)?.next_of(INTEGER)?;
            let modulus = self.der.get(modulus.content)?;
            let zeros = modulus.iter().take_while(|byte| **byte == 0).count();
            let first = modulus.get(zeros)?.leading_zeros() as usize;
            let bits = 8 * (modulus.len() - zeros) - first;
            return (!RSA_BITS.contains(&bits)).then(|| format!("has an RSA key of {bits} bits"));
        }
        (kind != ED25519).then(|| "has a key that is neither RSA, ECDSA nor Ed25519".to_owned())
    }

    /// Whether it names that one as its issuer.
    pub fn is_issued_by(&self, other: &Self) -> bool {
        let issuer = self.der.get(self.issuer.clone());
        issuer == other.der.get(other.subject.clone())
    }

    /// The same certificate, but for its word that it is an authority; `None` if it does not give it.
    pub fn as_no_authority(&self) -> Option<Vec<u8>> {
        let extensions = self.within(self.extensions.clone()?).only(SEQUENCE)?;
        let mut extensions = extensions.map(|one| self.within(one.content));
        let value = extensions.find_map(|mut extension| {
            let name = extension.next_of(OID)?;
            if self.der.get(name.content) != Some(BASIC_CONSTRAINTS) {
                return None;
            }
            extension.next_if(BOOLEAN); // critical
            extension.next_of(OCTET_STRING)
        })?;
        let word = self
            .within(value.content)
            .only(SEQUENCE)?
            .next_of(BOOLEAN)?;
        let mut changed = self.der.to_vec();
        changed.get_mut(word.content)?.fill(0);
        Some(changed)
    }

    fn within(&self, rest: Range<usize>) -> Elements<'a> {
        Elements {
            der: self.der,
            rest,
        }
    }
}

impl<'a> Elements<'a> {
    fn within(&self, one: &Element) -> Elements<'a> {
        Elements {
            der: self.der,
            rest: one.content.clone(),
        }
    }

    fn next_of(&mut self, tag: u8) -> Option<Element> {
        self.next().filter(|one| one.tag == tag)
    }

    /// The next element, if it has this tag; if not, it is left.
    fn next_if(&mut self, tag: u8) -> Option<Element> {
        let first = self.der.get(self.rest.clone())?.first();
        (first == Some(&tag)).then(|| self.next())?
    }

    /// What is in the only element.
    fn only(&mut self, tag: u8) -> Option<Elements<'a>> {
        let one = self.next_of(tag)?;
        self.rest.is_empty().then(|| self.within(&one))
    }
}

impl Iterator for Elements<'_> {
    type Item = Element;

    fn next(&mut self) -> Option<Element> {
        let bytes = self.der.get(self.rest.clone())?;
        let [tag, first, after @ ..] = bytes else {
            return None;
        };
        let (long, length) = match *first {
            length @ ..=0x7f => (0, usize::from(length)),
            // Four bytes count more than any file has.
            long @ 0x81..=0x84 => {
                let long = usize::from(long & 0x7f);
                let bytes = after.get(..long)?.iter();
                (
                    long,
                    bytes.fold(0, |all, byte| all << 8 | usize::from(*byte)),
                )
            }
            _ => return None,
        };
        let start = self.rest.start;
        let begin = start + 2 + long;
        let end = begin.checked_add(length)?;
        if end > self.rest.end {
            return None;
        }
        self.rest.start = end;
        Some(Element {
            tag: *tag,
            whole: start..end,
            content: begin..end,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};

    fn made(is_ca: IsCa) -> Vec<u8> {
        let mut params = CertificateParams::new(["a.test".to_owned()]).unwrap();
        params.is_ca = is_ca;
        let keys = KeyPair::generate().unwrap();
        params.self_signed(&keys).unwrap().der().to_vec()
    }

    #[test]
    fn only_the_word_that_it_is_an_authority_is_changed() {
        for constraint in [
            BasicConstraints::Unconstrained,
            BasicConstraints::Constrained(3),
        ] {
            let der = made(IsCa::Ca(constraint));
            let changed = Certificate::read(&der).unwrap().as_no_authority().unwrap();
            let differ = der.iter().zip(&changed).filter(|(old, new)| old != new);
            assert_eq!(differ.collect::<Vec<_>>(), [(&0xff, &0)]);
        }
        let der = made(IsCa::NoCa);
        assert_eq!(Certificate::read(&der).unwrap().as_no_authority(), None);
    }

    #[test]
    fn a_certificate_that_is_cut_or_changed_is_read_without_harm() {
        let der = made(IsCa::Ca(BasicConstraints::Unconstrained));
        for end in 0..der.len() {
            assert!(Certificate::read(&der[..end]).is_none());
        }
        for at in 0..der.len() {
            for byte in [0, 0x30, 0x7f, 0x84, 0xff] {
                let mut odd = der.clone();
                odd[at] = byte;
                if let Some(certificate) = Certificate::read(&odd) {
                    let _ = (
                        certificate.odd_form(),
                        certificate.odd_key(),
                        certificate.as_no_authority(),
                    );
                }
            }
        }
    }
}
