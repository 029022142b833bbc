//! Topologies read from a file of links.

use crate::{NodeId, Topology};
use std::collections::BTreeMap;
use std::fmt;

/// What is wrong with a file of links, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkError {
    /// The line, from 1.
    pub line: usize,
    /// The column of its first character, from 1.
    pub column: usize,
    /// What is wrong.
    pub fault: LinkFault,
}

/// What is wrong with a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkFault {
    /// A node was expected and this was found; nothing at all at the end of a line.
    NotANode(String),
    /// There is text after the link.
    Trailing(String),
    /// There is no such node.
    UnknownNode {
        /// The node that was named.
        node: u64,
        /// How many nodes there are.
        nodes: NodeId,
    },
    /// A node is linked to itself.
    SelfLoop(NodeId),
    /// The link was given before, on this line.
    Duplicate(usize),
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.fault)
    }
}

impl fmt::Display for LinkFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LinkFault::NotANode(found) if found.is_empty() => {
                write!(f, "the number of a node is missing; a link is two of them")
            }
            LinkFault::NotANode(found) => write!(f, "\"{found}\" is not the number of a node"),
            LinkFault::Trailing(found) => write!(f, "\"{found}\" after a link of two nodes"),
            LinkFault::UnknownNode { node, nodes } => match nodes {
                0 | 1 => write!(f, "there is no node {node}; there is one node, 0"),
                _ => write!(f, "there is no node {node}; the nodes are 0 to {}", nodes - 1),
            },
            LinkFault::SelfLoop(node) => write!(f, "node {node} is linked to itself"),
            LinkFault::Duplicate(line) => write!(f, "this link was given on line {line}"),
        }
    }
}

impl std::error::Error for LinkError {}

impl Topology {
    /// Reads a network of `nodes` nodes from a file of links.
    ///
    /// A line is a link: two node numbers with blanks between them. `#` starts a comment, and
    /// empty lines are skipped.
    ///
    /// ```
    /// use everypath_net::Topology;
    ///
    /// let square = "# a square\n0 1\n1 2\n2 3\n3 0\n";
    /// assert_eq!(Topology::parse(square, 4).unwrap().neighbours(0), [1, 3]);
    /// let error = Topology::parse("0 1\n1 4\n", 4).unwrap_err();
    /// assert_eq!(error.to_string(), "line 2, column 3: there is no node 4; the nodes are 0 to 3");
    /// ```
    pub fn parse(text: &str, nodes: NodeId) -> Result<Topology, LinkError> {
        let mut links = BTreeMap::new();
        for (number, text) in text.lines().enumerate() {
            let line = Line { number: number + 1, text: text.split('#').next().unwrap_or("") };
            let mut words = line.words();
            let Some(first) = words.next() else { continue };
            let a = line.node(first, nodes)?;
            let second = words.next().unwrap_or((line.text.trim_end().len(), ""));
            let b = line.node(second, nodes)?;
            if let Some((at, word)) = words.next() {
                return Err(line.error(at, LinkFault::Trailing(word.into())));
            }
            if a == b {
                return Err(line.error(second.0, LinkFault::SelfLoop(a)));
            }
            if let Some(before) = links.insert((a.min(b), a.max(b)), line.number) {
                return Err(line.error(first.0, LinkFault::Duplicate(before)));
            }
        }
        Ok(Topology::of(nodes, links.into_keys()))
    }
}

/// A line of the file without its comment.
struct Line<'a> {
    number: usize,
    text: &'a str,
}

impl<'a> Line<'a> {
    /// The words with the byte at which each starts.
    fn words(&self) -> impl Iterator<Item = (usize, &'a str)> {
        let mut end = 0;
        let pieces = self.text.split_inclusive(char::is_whitespace).map(move |piece| {
            end += piece.len();
            (end - piece.len(), piece.trim_end())
        });
        pieces.filter(|(_, word)| !word.is_empty())
    }

    fn node(&self, (at, word): (usize, &str), nodes: NodeId) -> Result<NodeId, LinkError> {
        let digits = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        let number = if digits { word.parse::<u64>().ok() } else { None };
        match number {
            Some(node) if node < u64::from(nodes) => Ok(node as NodeId),
            Some(node) => Err(self.error(at, LinkFault::UnknownNode { node, nodes })),
            None => Err(self.error(at, LinkFault::NotANode(word.into()))),
        }
    }

    fn error(&self, at: usize, fault: LinkFault) -> LinkError {
        let column = self.text[..at].chars().count() + 1;
        LinkError { line: self.number, column, fault }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_blanks_and_comments_are_read() {
        let text = "# three in a row\r\n\n  0\t1   # left\n2 1\n";
        let topology = Topology::parse(text, 3).unwrap();
        assert_eq!(topology, Topology::chain(3));
        assert_eq!(Topology::parse("", 2).unwrap().unreachable(), [1]);
    }

    #[test]
    fn every_fault_names_its_place() {
        let check = |text: &str, expected: &str| {
            assert_eq!(Topology::parse(text, 3).unwrap_err().to_string(), expected);
        };
        check("0 1\n  x 2", "line 2, column 3: \"x\" is not the number of a node");
        check("0 -1", "line 1, column 3: \"-1\" is not the number of a node");
        check("é 1", "line 1, column 1: \"é\" is not the number of a node");
        check("0 é", "line 1, column 3: \"é\" is not the number of a node");
        check(
            "\n0 # 1",
            "line 2, column 2: the number of a node is missing; a link is two of them",
        );
        check("0 1 2", "line 1, column 5: \"2\" after a link of two nodes");
        check("0 3", "line 1, column 3: there is no node 3; the nodes are 0 to 2");
        check("1 1", "line 1, column 3: node 1 is linked to itself");
        check("0 1\n1 2\n 1 0", "line 3, column 2: this link was given on line 1");
        check(
            "99999999999999999999 1",
            "line 1, column 1: \"99999999999999999999\" is not the number of a node",
        );
    }
}
