//! The order of exploration, laziness, and what is no rule.

use everypath_perturb::{BadRules, Budget, Deliveries, Direction, Multiplicities, Rules};

fn first(text: &str, packets: usize) -> Vec<u32> {
    let rules = Rules::new(text.parse().unwrap(), 2, Budget::UNLIMITED).unwrap();
    Deliveries::of(packets, rules).unwrap().next().unwrap()
}

#[test]
fn the_first_multiplicity_is_tried_first() {
    assert_eq!(first("1,0,2", 3), [0, 1, 2]);
    assert_eq!(first("0,1,2", 3), [0; 0]);
    assert_eq!(first("2,1", 3), [0, 0, 1, 1, 2, 2]);
}

#[test]
fn the_order_is_that_of_the_options() {
    let rules = Rules::new("1,0".parse().unwrap(), 2, Budget::UNLIMITED).unwrap();
    let all: Vec<Vec<u32>> = Deliveries::of(2, rules).unwrap().collect();
    assert_eq!(all, [vec![0, 1], vec![0], vec![1, 0], vec![1], vec![]]);
}

#[test]
fn nothing_is_generated_before_it_is_asked_for() {
    // There are more of these than anybody could wait for.
    let rules = Rules::new("1,0,2".parse().unwrap(), 60, Budget::UNLIMITED).unwrap();
    let few: Vec<Vec<u32>> = Deliveries::of(60, rules).unwrap().take(100).collect();
    assert_eq!(few[0], (0..60).collect::<Vec<u32>>());
    assert!(few.iter().all(|delivery| delivery.len() >= 59));
}

#[test]
fn a_reliable_network_delivers_what_was_sent() {
    let all: Vec<Vec<u32>> = Deliveries::of(5, Rules::RELIABLE).unwrap().collect();
    assert_eq!(all, [[0, 1, 2, 3, 4]]);
}

#[test]
fn more_packets_than_there_is_room_for_are_refused() {
    assert!(Deliveries::of(64, Rules::RELIABLE).is_some());
    assert!(Deliveries::of(65, Rules::RELIABLE).is_none());
}

#[test]
fn what_is_no_rule_is_refused() {
    let multiplicities = |text: &str| text.parse::<Multiplicities>().unwrap_err();
    assert_eq!(multiplicities(""), BadRules::NotAMultiplicity);
    assert_eq!(multiplicities("1,x"), BadRules::NotAMultiplicity);
    assert_eq!(multiplicities("1,-1"), BadRules::NotAMultiplicity);
    assert_eq!(multiplicities("1,256"), BadRules::NotAMultiplicity);
    assert_eq!(multiplicities("1,0,1"), BadRules::Twice(1));
    let many: Vec<String> = (0..17).map(|choice: u8| choice.to_string()).collect();
    assert_eq!(multiplicities(&many.join(",")), BadRules::TooManyMultiplicities);
    assert_eq!(Multiplicities::new(&[]), Err(BadRules::NoMultiplicity));
    for text in ["", "loss", "loss=", "loss=-1", "delay=1", "loss=1;dup=1"] {
        assert_eq!(text.parse::<Budget>(), Err(BadRules::NotABudget), "{text}");
    }
    assert_eq!("sent".parse::<Direction>(), Err(BadRules::NotADirection));
    let once = Multiplicities::ONCE;
    assert_eq!(Rules::new(once, 0, Budget::UNLIMITED), Err(BadRules::NoCapacity));
    let budget: Budget = "dup=1".parse().unwrap();
    for text in ["0", "2", "0,2", "1,3"] {
        let multiplicities: Multiplicities = text.parse().unwrap();
        assert_eq!(Rules::new(multiplicities, 1, budget), Err(BadRules::BudgetWithoutOne));
    }
}

#[test]
fn what_is_a_rule_is_read() {
    assert_eq!("1, 0,2".parse::<Multiplicities>().unwrap().choices(), [1, 0, 2]);
    let budget: Budget = "loss=2, dup=1".parse().unwrap();
    assert_eq!(budget, Budget { loss: 2, duplication: 1, ..Budget::UNLIMITED });
    assert_eq!("both".parse(), Ok(Direction::Both));
}
