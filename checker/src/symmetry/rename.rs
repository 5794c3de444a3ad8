//! Plain data under other names: what packs it sees of each id of which kind it is.

use super::Own;
use mm_model::ids::ActorId;
use serde::ser::{
    Error as _, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
    SerializeTuple, SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

/// The new name of each id.
#[derive(Clone, Debug)]
pub(super) struct Names {
    actors: Vec<u8>,
    files: Vec<u8>,
    inodes: Vec<u8>,
}

/// Which kind of id a number is.
#[derive(Clone, Copy)]
enum Kind {
    Number,
    Actor,
    Actors,
    File,
    Inode,
    /// Tasks that change places have not the same CPU, so that nothing they keep may name one.
    Cpu,
}

impl Kind {
    fn named(name: &str) -> Self {
        match name {
            "ActorId" => Self::Actor,
            "ActorSet" => Self::Actors,
            "FileId" => Self::File,
            "InodeId" => Self::Inode,
            "CpuId" => Self::Cpu,
            _ => Self::Number,
        }
    }
}

impl Names {
    /// As they are.
    pub(super) fn same(actors: usize, files: usize, inodes: usize) -> Self {
        let all = |count: usize| (0..count).map(|at| ActorId::from(at).0).collect();
        Self { actors: all(actors), files: all(files), inodes: all(inodes) }
    }

    /// Calls what is one task's as what is another's.
    pub(super) fn take(&mut self, from: &Own, to: &Own) {
        let Own { task, cpu: _, files, inodes, devices } = from;
        self.actors[task.index()] = to.task.0;
        for (from, to) in devices.iter().zip(&to.devices) {
            self.actors[from.index()] = to.0;
        }
        for (from, to) in files.iter().zip(&to.files) {
            self.files[from.index()] = to.0;
        }
        for (from, to) in inodes.iter().zip(&to.inodes) {
            self.inodes[from.index()] = to.0;
        }
    }

    /// Every actor, with its new place.
    pub(super) fn actors(&self) -> impl Iterator<Item = (usize, usize)> {
        places(&self.actors)
    }

    /// Every open file.
    pub(super) fn files(&self) -> impl Iterator<Item = (usize, usize)> {
        places(&self.files)
    }

    /// Every inode.
    pub(super) fn inodes(&self) -> impl Iterator<Item = (usize, usize)> {
        places(&self.inodes)
    }

    fn of(&self, kind: Kind, number: u8) -> Result<u8, &'static str> {
        match kind {
            Kind::Number => Ok(number),
            Kind::Actor => Ok(self.actors[usize::from(number)]),
            Kind::File => Ok(self.files[usize::from(number)]),
            Kind::Inode => Ok(self.inodes[usize::from(number)]),
            Kind::Actors | Kind::Cpu => Err("a CPU has no other name"),
        }
    }

    fn of_all(&self, kind: Kind, bits: u64) -> u64 {
        match kind {
            Kind::Actors => {
                let inside = self.actors().filter(|(from, _)| bits >> from & 1 == 1);
                inside.fold(0, |set, (_, to)| set | 1 << to)
            }
            Kind::Number | Kind::Actor | Kind::File | Kind::Inode | Kind::Cpu => bits,
        }
    }
}

fn places(names: &[u8]) -> impl Iterator<Item = (usize, usize)> {
    names.iter().enumerate().map(|(from, to)| (from, usize::from(*to)))
}

/// Bytes that most values pack into.
const USUAL: usize = 128;

/// Packs a value under other names.
///
/// # Panics
/// If it names a CPU.
pub(super) fn renamed(value: &impl Serialize, names: &Names) -> Vec<u8> {
    let packed = Vec::with_capacity(USUAL);
    postcard::to_extend(&Under { value, names, kind: Kind::Number }, packed)
        .expect("plain data packs")
}

/// A value under other names.
struct Under<'a, T: ?Sized> {
    value: &'a T,
    names: &'a Names,
    kind: Kind,
}

impl<T: Serialize + ?Sized> Serialize for Under<'_, T> {
    fn serialize<S: Serializer>(&self, inner: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(Renamer { inner, names: self.names, kind: self.kind })
    }
}

struct Renamer<'a, S> {
    inner: S,
    names: &'a Names,
    kind: Kind,
}

/// The parts of a value that has some.
struct Parts<'a, C> {
    inner: C,
    names: &'a Names,
}

macro_rules! plain {
    ($($method:ident $type:ty)+) => {
        $(fn $method(self, value: $type) -> Result<S::Ok, S::Error> {
            self.inner.$method(value)
        })+
    };
}

macro_rules! parts {
    ($($method:ident $parts:ident ($($name:ident: $type:ty),*))+) => {
        $(fn $method(self, $($name: $type),*) -> Result<Self::$parts, S::Error> {
            Ok(Parts { inner: self.inner.$method($($name),*)?, names: self.names })
        })+
    };
}

impl<'a, S: Serializer> Serializer for Renamer<'a, S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Parts<'a, S::SerializeSeq>;
    type SerializeTuple = Parts<'a, S::SerializeTuple>;
    type SerializeTupleStruct = Parts<'a, S::SerializeTupleStruct>;
    type SerializeTupleVariant = Parts<'a, S::SerializeTupleVariant>;
    type SerializeMap = Parts<'a, S::SerializeMap>;
    type SerializeStruct = Parts<'a, S::SerializeStruct>;
    type SerializeStructVariant = Parts<'a, S::SerializeStructVariant>;

    plain! {
        serialize_bool bool
        serialize_i8 i8
        serialize_i16 i16
        serialize_i32 i32
        serialize_i64 i64
        serialize_i128 i128
        serialize_u16 u16
        serialize_u32 u32
        serialize_u128 u128
        serialize_f32 f32
        serialize_f64 f64
        serialize_char char
        serialize_str &str
        serialize_bytes &[u8]
        serialize_unit_struct &'static str
    }

    fn serialize_u8(self, value: u8) -> Result<S::Ok, S::Error> {
        self.inner.serialize_u8(self.names.of(self.kind, value).map_err(S::Error::custom)?)
    }

    fn serialize_u64(self, value: u64) -> Result<S::Ok, S::Error> {
        self.inner.serialize_u64(self.names.of_all(self.kind, value))
    }

    fn serialize_none(self) -> Result<S::Ok, S::Error> {
        self.inner.serialize_none()
    }

    fn serialize_unit(self) -> Result<S::Ok, S::Error> {
        self.inner.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.inner.serialize_some(&Under { value, names: self.names, kind: Kind::Number })
    }

    fn serialize_unit_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
    ) -> Result<S::Ok, S::Error> {
        self.inner.serialize_unit_variant(name, index, variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        let kind = Kind::named(name);
        self.inner.serialize_newtype_struct(name, &Under { value, names: self.names, kind })
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        let value = &Under { value, names: self.names, kind: Kind::Number };
        self.inner.serialize_newtype_variant(name, index, variant, value)
    }

    parts! {
        serialize_seq SerializeSeq (len: Option<usize>)
        serialize_tuple SerializeTuple (len: usize)
        serialize_tuple_struct SerializeTupleStruct (name: &'static str, len: usize)
        serialize_tuple_variant SerializeTupleVariant
            (name: &'static str, index: u32, variant: &'static str, len: usize)
        serialize_map SerializeMap (len: Option<usize>)
        serialize_struct SerializeStruct (name: &'static str, len: usize)
        serialize_struct_variant SerializeStructVariant
            (name: &'static str, index: u32, variant: &'static str, len: usize)
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

macro_rules! renames_parts {
    ($($part:ident $method:ident ($($key:ident: $type:ty)?))+) => {
        $(impl<C: $part> $part for Parts<'_, C> {
            type Ok = C::Ok;
            type Error = C::Error;

            fn $method<T: Serialize + ?Sized>(
                &mut self,
                $($key: $type,)?
                value: &T,
            ) -> Result<(), C::Error> {
                let value = &Under { value, names: self.names, kind: Kind::Number };
                self.inner.$method($($key,)? value)
            }

            fn end(self) -> Result<C::Ok, C::Error> {
                self.inner.end()
            }
        })+
    };
}

renames_parts! {
    SerializeSeq serialize_element ()
    SerializeTuple serialize_element ()
    SerializeTupleStruct serialize_field ()
    SerializeTupleVariant serialize_field ()
    SerializeStruct serialize_field (key: &'static str)
    SerializeStructVariant serialize_field (key: &'static str)
}

impl<C: SerializeMap> SerializeMap for Parts<'_, C> {
    type Ok = C::Ok;
    type Error = C::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), C::Error> {
        self.inner.serialize_key(&Under { value, names: self.names, kind: Kind::Number })
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), C::Error> {
        self.inner.serialize_value(&Under { value, names: self.names, kind: Kind::Number })
    }

    fn end(self) -> Result<C::Ok, C::Error> {
        self.inner.end()
    }
}
