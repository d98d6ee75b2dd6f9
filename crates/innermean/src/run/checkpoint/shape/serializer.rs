//! Walks through a value and keeps its shape.

use serde::ser::{self, Impossible, Serialize, Serializer};

use super::{MOST, Shape, TooLarge, hash_of};

/// Marks what stays as it is.
pub(super) const FIXED: &str = "innermean::fixed";
/// Marks a list that is as long as it is for ever.
pub(super) const SIZED: &str = "innermean::sized";
/// Marks what may be anything.
pub(super) const FREE: &str = "innermean::free";

#[derive(Debug, Clone, Copy)]
pub(super) struct Walk;

type Found = Result<Shape, TooLarge>;

/// Parts so far, of a list or of anything else.
pub(super) struct Walked {
    parts: Vec<Shape>,
    len: usize,
    /// The variant, if there are several.
    choice: Option<u32>,
}

impl Walked {
    fn new(choice: Option<u32>) -> Self {
        Walked { parts: Vec::new(), len: 0, choice }
    }

    fn part<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), TooLarge> {
        self.parts.push(value.serialize(Walk)?);
        Ok(())
    }

    fn all(self) -> Shape {
        match self.choice {
            Some(variant) => Shape::Choice(variant, self.parts),
            None => Shape::Parts(self.parts),
        }
    }
}

fn whole(number: u64) -> Found {
    if number > MOST { Err(TooLarge) } else { Ok(Shape::Plain) }
}

macro_rules! plain {
    ($($name:ident($type:ty))*) => {
        $(fn $name(self, _: $type) -> Found {
            Ok(Shape::Plain)
        })*
    };
}

macro_rules! parts {
    ($($name:ident($($type:ty),*))*) => {
        $(fn $name(self, $(_: $type),*) -> Result<Walked, TooLarge> {
            Ok(Walked::new(None))
        })*
    };
}

impl Serializer for Walk {
    type Ok = Shape;
    type Error = TooLarge;
    type SerializeSeq = Walked;
    type SerializeTuple = Walked;
    type SerializeTupleStruct = Walked;
    type SerializeTupleVariant = Walked;
    type SerializeMap = Impossible<Shape, TooLarge>;
    type SerializeStruct = Walked;
    type SerializeStructVariant = Walked;

    plain! {
        serialize_bool(bool) serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_f32(f32) serialize_f64(f64)
        serialize_char(char) serialize_str(&str) serialize_unit_struct(&'static str)
    }

    parts! {
        serialize_seq(Option<usize>)
        serialize_tuple(usize)
        serialize_tuple_struct(&'static str, usize)
        serialize_struct(&'static str, usize)
    }

    fn serialize_u64(self, number: u64) -> Found {
        whole(number)
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Found {
        Ok(Shape::List(bytes.len(), vec![Shape::Plain]))
    }

    fn serialize_unit(self) -> Found {
        Ok(Shape::Plain)
    }

    fn serialize_none(self) -> Found {
        Ok(Shape::Choice(0, Vec::new()))
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Found {
        Ok(Shape::Choice(1, vec![value.serialize(Walk)?]))
    }

    fn serialize_unit_variant(self, _: &'static str, variant: u32, _: &'static str) -> Found {
        Ok(Shape::Choice(variant, Vec::new()))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Found {
        match name {
            FIXED => hash_of(value).map(Shape::Fixed),
            SIZED => match value.serialize(Walk)? {
                Shape::List(len, _) => Ok(Shape::Fixed(len as u128)),
                other => Ok(other),
            },
            FREE => Ok(Shape::Plain),
            _ => value.serialize(Walk),
        }
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        variant: u32,
        _: &'static str,
        value: &T,
    ) -> Found {
        Ok(Shape::Choice(variant, vec![value.serialize(Walk)?]))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        variant: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Walked, TooLarge> {
        Ok(Walked::new(Some(variant)))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        variant: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Walked, TooLarge> {
        Ok(Walked::new(Some(variant)))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, TooLarge> {
        Err(TooLarge)
    }
}

impl ser::SerializeSeq for Walked {
    type Ok = Shape;
    type Error = TooLarge;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), TooLarge> {
        let shape = value.serialize(Walk)?;
        self.len += 1;
        if self.parts.last() != Some(&shape) {
            self.parts.push(shape);
        }
        Ok(())
    }

    fn end(self) -> Found {
        Ok(Shape::List(self.len, self.parts))
    }
}

macro_rules! made_of_parts {
    ($($Trait:ident: $add:ident($($name:ty)?);)*) => {
        $(impl ser::$Trait for Walked {
            type Ok = Shape;
            type Error = TooLarge;

            fn $add<T: Serialize + ?Sized>(&mut self, $(_: $name,)? value: &T) -> Result<(), TooLarge> {
                self.part(value)
            }

            fn end(self) -> Found {
                Ok(self.all())
            }
        })*
    };
}

made_of_parts! {
    SerializeTuple: serialize_element();
    SerializeTupleStruct: serialize_field();
    SerializeTupleVariant: serialize_field();
    SerializeStruct: serialize_field(&'static str);
    SerializeStructVariant: serialize_field(&'static str);
}
