//! Who may ask.

use std::fs::File;
use std::io::{self, Read};

/// The token and the port of a server.
#[derive(Clone, Debug)]
pub struct Access {
    /// The secret part of every address.
    pub token: String,
    /// The port on 127.0.0.1.
    pub port: u16,
}

impl Access {
    /// A new token, from the kernel's random numbers.
    pub fn new(port: u16) -> io::Result<Self> {
        let mut bytes = [0; 16];
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        let token = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Access { token, port })
    }

    /// Where the page is.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    /// Whether a request names this server and nobody else: the `Host` that it asks, and the `Origin`
    /// of the page that asks, if it says so.
    pub(crate) fn allows(&self, host: Option<&str>, origin: Option<&str>) -> bool {
        let own = [format!("127.0.0.1:{}", self.port), format!("localhost:{}", self.port)];
        let is_host = host.is_some_and(|host| own.iter().any(|name| name == host));
        let is_origin = |origin: &str| {
            let name = origin.strip_prefix("http://");
            name.is_some_and(|name| own.iter().any(|own| own == name))
        };
        is_host && origin.is_none_or(is_origin)
    }

    /// Whether a word is the token. It takes as long for every word of its length.
    pub(crate) fn is_token(&self, word: &str) -> bool {
        let pairs = word.bytes().zip(self.token.bytes());
        word.len() == self.token.len() && pairs.fold(0, |all, (a, b)| all | (a ^ b)) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::Access;

    #[test]
    fn others_are_refused() {
        let access = Access { token: "abc".into(), port: 80 };
        assert!(access.allows(Some("127.0.0.1:80"), None));
        assert!(access.allows(Some("localhost:80"), Some("http://127.0.0.1:80")));
        assert!(!access.allows(Some("evil.example:80"), None), "a name that was rebound");
        assert!(!access.allows(None, None));
        assert!(!access.allows(Some("127.0.0.1:80"), Some("http://evil.example")));
        assert!(!access.allows(Some("127.0.0.1:80"), Some("null")));
        assert!(access.is_token("abc") && !access.is_token("abd") && !access.is_token("ab"));
        assert_ne!(Access::new(1).unwrap().token, Access::new(1).unwrap().token);
    }
}
