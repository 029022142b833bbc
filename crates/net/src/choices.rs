//! The choices that handlers make: exploration takes every one, a simulation draws.

/// The choices of one handler: the digits of a number, each in the base of its own choice.
#[derive(Debug, Default)]
pub(crate) struct Choices {
    /// The digits to come.
    rest: u32,
    /// Among how many, and which, of the choices so far.
    made: Vec<(u32, u32)>,
}

/// The number of a step says in its lower bits which packet, timer or command it is about, and above
/// them which choices are made.
const BITS: u32 = 16;

/// The two parts of the number of a step: what it is about, and which choices are made.
pub(crate) fn split(param: u32) -> (u32, u32) {
    (param & ((1 << BITS) - 1), param >> BITS)
}

/// The number of a step.
pub(crate) fn join(way: u32, choices: u32) -> u32 {
    assert!(way < 1 << BITS && choices < 1 << BITS, "a handler has more than 65,535 outcomes");
    way | choices << BITS
}

impl Choices {
    /// The choices of this number.
    pub(crate) fn numbered(number: u32) -> Self {
        Choices { rest: number, made: Vec::new() }
    }

    /// Chooses a number below `among`.
    pub(crate) fn choose(&mut self, among: u32) -> u32 {
        assert!(among > 0, "a handler chooses among nothing");
        let chosen = self.rest % among;
        self.rest /= among;
        self.made.push((among, chosen));
        chosen
    }

    /// What was chosen.
    pub(crate) fn made(&self) -> impl Iterator<Item = u32> {
        self.made.iter().map(|(_, chosen)| *chosen)
    }

    /// The number of the choices after these, as a depth-first search meets them.
    fn next(mut self) -> Option<u32> {
        while let Some((among, chosen)) = self.made.pop() {
            if chosen + 1 < among {
                self.made.push((among, chosen + 1));
                let digits = self.made.iter().rev();
                let number = digits.fold(0u64, |rest, (among, chosen)| {
                    rest.saturating_mul(u64::from(*among)) + u64::from(*chosen)
                });
                return Some(u32::try_from(number).expect("choices of a handler in 32 bits"));
            }
        }
        None
    }
}

/// The numbers of all choices of a handler, in ascending order; `run` lets it make some.
pub(crate) fn all(mut run: impl FnMut(&mut Choices)) -> Vec<u32> {
    let mut numbers = Vec::new();
    let mut next = Some(0);
    while let Some(number) = next {
        numbers.push(number);
        let mut choices = Choices::numbered(number);
        run(&mut choices);
        next = choices.next();
    }
    numbers.sort_unstable();
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is chosen next may depend on what was chosen.
    #[test]
    fn all_choices_are_made_once() {
        let mut made = Vec::new();
        let numbers = all(|choices| {
            let first = choices.choose(3);
            let second = if first == 1 { choices.choose(4) } else { 9 };
            made.push((first, second));
        });
        made.sort_unstable();
        assert_eq!(made, [(0, 9), (1, 0), (1, 1), (1, 2), (1, 3), (2, 9)]);
        assert_eq!(numbers, [0, 1, 2, 4, 7, 10]);
        assert_eq!(all(|_| {}), [0]);
    }
}
