//! What was reached of what we want.

/// Rows of a table.
#[derive(Default)]
pub struct Goals(Vec<String>);

impl Goals {
    /// A number that should be this large.
    pub fn at_least(&mut self, goal: String, reached: f64, wanted: f64) {
        self.add(goal, shown(reached), reached >= wanted);
    }

    /// A number that should not be larger.
    pub fn at_most(&mut self, goal: String, reached: f64, wanted: f64) {
        self.add(goal, shown(reached), reached <= wanted);
    }

    /// Anything else.
    pub fn add(&mut self, goal: String, reached: String, met: bool) {
        self.0.push(format!("| {goal} | {reached} | {} |", if met { "yes" } else { "no" }));
    }

    /// Prints the table.
    pub fn print(&self) {
        println!("| goal | reached | |\n|---|--:|---|");
        self.0.iter().for_each(|row| println!("{row}"));
    }
}

/// Large numbers are rates, small ones ratios and nanoseconds.
fn shown(number: f64) -> String {
    if number >= 1000.0 { crate::table::grouped(number as u64) } else { format!("{number:.2}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_met_or_not() {
        let mut goals = Goals::default();
        goals.at_least("fast".into(), 44_999.0, 45_000.0);
        goals.at_most("short".into(), 39.5, 40.0);
        assert_eq!(goals.0, ["| fast | 44,999 | no |", "| short | 39.50 | yes |"]);
    }
}
