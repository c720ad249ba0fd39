//! Puts the parts of a file together.

use buffa_descriptor::generated::descriptor::{
    DescriptorProto, EnumDescriptorProto, FileDescriptorProto,
};

use super::tree::{Enum, File, Message};

pub(super) fn file(file: File) -> FileDescriptorProto {
    let mut proto = file.proto;
    proto.message_type = file.messages.into_iter().map(message).collect();
    proto.enum_type = file.enums.into_iter().map(enumeration).collect();
    proto.extension = file
        .extensions
        .into_iter()
        .map(|field| field.proto)
        .collect();
    let services = file.services.into_iter().map(|mut service| {
        service.proto.method = service
            .methods
            .into_iter()
            .map(|method| method.proto)
            .collect();
        service.proto
    });
    proto.service = services.collect();
    proto
}

fn message(message: Message) -> DescriptorProto {
    let mut proto = message.proto;
    proto.field = message
        .fields
        .into_iter()
        .map(|field| field.proto)
        .collect();
    proto.extension = message
        .extensions
        .into_iter()
        .map(|field| field.proto)
        .collect();
    proto.nested_type = message.messages.into_iter().map(self::message).collect();
    proto.enum_type = message.enums.into_iter().map(enumeration).collect();
    proto.extension_range = message
        .ranges
        .into_iter()
        .map(|range| range.proto)
        .collect();
    proto.oneof_decl = message
        .oneofs
        .into_iter()
        .map(|oneof| oneof.proto)
        .collect();
    proto.reserved_range = message
        .reserved
        .into_iter()
        .map(|(range, _)| range)
        .collect();
    proto.reserved_name = message
        .reserved_names
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    proto
}

fn enumeration(item: Enum) -> EnumDescriptorProto {
    let mut proto = item.proto;
    proto.value = item.values.into_iter().map(|value| value.proto).collect();
    proto.reserved_range = item.reserved.into_iter().map(|(range, _)| range).collect();
    proto.reserved_name = item
        .reserved_names
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    proto
}
