//! Puts the parts of a file together.

use buffa_descriptor::generated::descriptor::{
    DescriptorProto, EnumDescriptorProto, FileDescriptorProto,
};

use super::tree::{Enum, File, Message};

pub(super) fn file(file: File) -> FileDescriptorProto {
    let mut proto = file.proto;
    proto.message_type = each(file.messages, message);
    proto.enum_type = each(file.enums, enumeration);
    proto.extension = each(file.extensions, |field| field.proto);
    proto.service = each(file.services, |mut service| {
        service.proto.method = each(service.methods, |method| method.proto);
        service.proto
    });
    proto
}

fn each<Part, Proto>(parts: Vec<Part>, proto: impl Fn(Part) -> Proto) -> Vec<Proto> {
    parts.into_iter().map(proto).collect()
}

fn message(message: Message) -> DescriptorProto {
    let mut proto = message.proto;
    proto.field = each(message.fields, |field| field.proto);
    proto.extension = each(message.extensions, |field| field.proto);
    proto.nested_type = each(message.messages, self::message);
    proto.enum_type = each(message.enums, enumeration);
    proto.extension_range = each(message.ranges, |range| range.proto);
    proto.oneof_decl = each(message.oneofs, |oneof| oneof.proto);
    proto.reserved_range = each(message.reserved, |(range, _)| range);
    proto.reserved_name = each(message.reserved_names, |(name, _)| name);
    proto
}

fn enumeration(item: Enum) -> EnumDescriptorProto {
    let mut proto = item.proto;
    proto.value = each(item.values, |value| value.proto);
    proto.reserved_range = each(item.reserved, |(range, _)| range);
    proto.reserved_name = each(item.reserved_names, |(name, _)| name);
    proto
}
