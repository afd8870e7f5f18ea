//! The messages of `onnx.proto`, as far as they are used.

/// `TensorProto.DataType`.
pub(super) mod data_type {
    pub(in super::super) const INT64: i32 = 7;
    pub(in super::super) const STRING: i32 = 8;
    pub(in super::super) const DOUBLE: i32 = 11;
}

/// `AttributeProto.AttributeType`.
const INT: i32 = 2;
const INTS: i32 = 7;
const STRINGS: i32 = 8;

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Model {
    #[prost(int64, tag = "1")]
    pub(super) ir_version: i64,
    #[prost(string, tag = "2")]
    pub(super) producer_name: String,
    #[prost(string, tag = "3")]
    pub(super) producer_version: String,
    #[prost(string, tag = "6")]
    pub(super) doc_string: String,
    #[prost(message, optional, tag = "7")]
    pub(super) graph: Option<Graph>,
    #[prost(message, repeated, tag = "8")]
    pub(super) opset_import: Vec<OperatorSet>,
    #[prost(message, repeated, tag = "14")]
    pub(super) metadata_props: Vec<Entry>,
}

/// Without a domain it is ai.onnx.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct OperatorSet {
    #[prost(string, tag = "1")]
    pub(super) domain: String,
    #[prost(int64, tag = "2")]
    pub(super) version: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Entry {
    #[prost(string, tag = "1")]
    pub(super) key: String,
    #[prost(string, tag = "2")]
    pub(super) value: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Graph {
    #[prost(message, repeated, tag = "1")]
    pub(super) node: Vec<Node>,
    #[prost(string, tag = "2")]
    pub(super) name: String,
    #[prost(message, repeated, tag = "5")]
    pub(super) initializer: Vec<Tensor>,
    #[prost(message, repeated, tag = "11")]
    pub(super) input: Vec<Value>,
    #[prost(message, repeated, tag = "12")]
    pub(super) output: Vec<Value>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Node {
    #[prost(string, repeated, tag = "1")]
    pub(super) input: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub(super) output: Vec<String>,
    #[prost(string, tag = "3")]
    pub(super) name: String,
    #[prost(string, tag = "4")]
    pub(super) op_type: String,
    #[prost(message, repeated, tag = "5")]
    pub(super) attribute: Vec<Attribute>,
    /// Without one it is ai.onnx.
    #[prost(string, tag = "7")]
    pub(super) domain: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Attribute {
    #[prost(string, tag = "1")]
    name: String,
    /// Optional, so that a zero is written too: readers do not take what is missing for zero.
    #[prost(int64, optional, tag = "3")]
    i: Option<i64>,
    #[prost(int64, repeated, packed = "false", tag = "8")]
    ints: Vec<i64>,
    #[prost(bytes = "vec", repeated, tag = "9")]
    strings: Vec<Vec<u8>>,
    #[prost(int32, tag = "20")]
    kind: i32,
}

impl Attribute {
    pub(super) fn int(name: &str, value: i64) -> Self {
        Self {
            name: name.into(),
            i: Some(value),
            kind: INT,
            ..Self::default()
        }
    }

    pub(super) fn ints(name: &str, values: Vec<i64>) -> Self {
        Self {
            name: name.into(),
            ints: values,
            kind: INTS,
            ..Self::default()
        }
    }

    pub(super) fn strings(name: &str, values: &[String]) -> Self {
        Self {
            name: name.into(),
            strings: values.iter().map(|value| value.clone().into()).collect(),
            kind: STRINGS,
            ..Self::default()
        }
    }
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Tensor {
    #[prost(int64, repeated, packed = "false", tag = "1")]
    pub(super) dims: Vec<i64>,
    #[prost(int32, tag = "2")]
    pub(super) data_type: i32,
    #[prost(bytes = "vec", repeated, tag = "6")]
    pub(super) string_data: Vec<Vec<u8>>,
    #[prost(string, tag = "8")]
    pub(super) name: String,
    #[prost(bytes = "vec", optional, tag = "9")]
    pub(super) raw_data: Option<Vec<u8>>,
}

impl Tensor {
    /// Of little-endian numbers; the last index runs fastest.
    pub(super) fn new(name: &str, data_type: i32, shape: &[usize], bytes: Vec<u8>) -> Self {
        Self {
            dims: shape.iter().map(|&length| length as i64).collect(),
            data_type,
            string_data: Vec::new(),
            name: name.into(),
            raw_data: Some(bytes),
        }
    }
}

/// `ValueInfoProto`: an input or an output.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Value {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(message, optional, tag = "2")]
    kind: Option<Kind>,
    #[prost(string, tag = "3")]
    doc_string: String,
}

impl Value {
    pub(super) fn new(name: &str, data_type: i32, dim: Vec<Dimension>, doc: String) -> Self {
        Self {
            name: name.into(),
            kind: Some(Kind {
                tensor_type: Some(TensorKind {
                    elem_type: data_type,
                    shape: Some(Shape { dim }),
                }),
            }),
            doc_string: doc,
        }
    }
}

/// `TypeProto`.
#[derive(Clone, PartialEq, prost::Message)]
struct Kind {
    #[prost(message, optional, tag = "1")]
    tensor_type: Option<TensorKind>,
}

/// `TypeProto.Tensor`.
#[derive(Clone, PartialEq, prost::Message)]
struct TensorKind {
    #[prost(int32, tag = "1")]
    elem_type: i32,
    #[prost(message, optional, tag = "2")]
    shape: Option<Shape>,
}

/// `TensorShapeProto`.
#[derive(Clone, PartialEq, prost::Message)]
struct Shape {
    #[prost(message, repeated, tag = "1")]
    dim: Vec<Dimension>,
}

/// Either a number or a name.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Dimension {
    #[prost(int64, optional, tag = "1")]
    dim_value: Option<i64>,
    #[prost(string, optional, tag = "2")]
    dim_param: Option<String>,
}

impl Dimension {
    pub(super) fn of(length: usize) -> Self {
        Self {
            dim_value: Some(length as i64),
            dim_param: None,
        }
    }

    pub(super) fn named(name: &str) -> Self {
        Self {
            dim_value: None,
            dim_param: Some(name.into()),
        }
    }
}
