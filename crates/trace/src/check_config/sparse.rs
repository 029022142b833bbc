//! A configuration in a file has only what differs from the default.

use super::CheckConfig;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// Writes those fields that do not have their default.
pub(crate) fn sparse<S: Serializer>(
    config: &CheckConfig,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let fields = |config: &CheckConfig| match serde_json::to_value(config) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Ok(Map::new()),
        Err(error) => Err(serde::ser::Error::custom(error)),
    };
    let defaults = fields(&CheckConfig::default())?;
    let mut fields = fields(config)?;
    fields.retain(|name, value| defaults.get(name) != Some(value));
    fields.serialize(serializer)
}
