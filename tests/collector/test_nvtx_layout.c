/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx_abi.h against the headers of NVTX, where they are installed: this compiles, or it does
 * not. */
#include <stddef.h>
#include <stdint.h>

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

/* Names of the headers that are macros there and words here. */
enum { HEADER_PAYLOAD_EXT = (int)NVTX_PAYLOAD_TYPE_EXT };
#define NVTX_COLOR_ARGB OUR_COLOR_ARGB
#include "inject/nvtx/nvtx_abi.h"

#define SAME(ours, field, theirs, member)                                                          \
    _Static_assert(offsetof(struct ours, field) == offsetof(theirs, member) &&                     \
                       sizeof(((struct ours *)0)->field) == sizeof(((theirs *)0)->member),         \
                   "as in the header")
#define SAME_SIZE(ours, theirs)                                                                    \
    _Static_assert(sizeof(struct ours) == sizeof(theirs), "as in the header")
#define SAME_NUMBER(ours, theirs)                                                                  \
    _Static_assert((long long)(ours) == (long long)(theirs), "as in the header")

SAME_SIZE(nvtx_event, nvtxEventAttributes_t);
SAME(nvtx_event, category, nvtxEventAttributes_t, category);
SAME(nvtx_event, color, nvtxEventAttributes_t, color);
SAME(nvtx_event, payload_type, nvtxEventAttributes_t, payloadType);
SAME(nvtx_event, reserved, nvtxEventAttributes_t, reserved0);
SAME(nvtx_event, payload, nvtxEventAttributes_t, payload);
SAME(nvtx_event, message_type, nvtxEventAttributes_t, messageType);
SAME(nvtx_event, message, nvtxEventAttributes_t, message);
SAME_SIZE(nvtx_payload, nvtxPayloadData_t);
SAME(nvtx_payload, size, nvtxPayloadData_t, size);
SAME(nvtx_payload, at, nvtxPayloadData_t, payload);
SAME_SIZE(nvtx_schema_entry, nvtxPayloadSchemaEntry_t);
SAME(nvtx_schema_entry, type, nvtxPayloadSchemaEntry_t, type);
SAME(nvtx_schema_entry, name, nvtxPayloadSchemaEntry_t, name);
SAME(nvtx_schema_entry, detail, nvtxPayloadSchemaEntry_t, arrayOrUnionDetail);
SAME(nvtx_schema_entry, offset, nvtxPayloadSchemaEntry_t, offset);
SAME_SIZE(nvtx_schema, nvtxPayloadSchemaAttr_t);
SAME(nvtx_schema, name, nvtxPayloadSchemaAttr_t, name);
SAME(nvtx_schema, entries, nvtxPayloadSchemaAttr_t, entries);
SAME(nvtx_schema, entry_count, nvtxPayloadSchemaAttr_t, numEntries);
SAME(nvtx_schema, align, nvtxPayloadSchemaAttr_t, packAlign);
SAME(nvtx_schema, id, nvtxPayloadSchemaAttr_t, schemaId);
SAME_SIZE(nvtx_enum_entry, nvtxPayloadEnum_t);
SAME_SIZE(nvtx_enum, nvtxPayloadEnumAttr_t);
SAME(nvtx_enum, entries, nvtxPayloadEnumAttr_t, entries);
SAME(nvtx_enum, size, nvtxPayloadEnumAttr_t, sizeOfEnum);
SAME(nvtx_enum, id, nvtxPayloadEnumAttr_t, schemaId);
SAME_SIZE(nvtx_extension, nvtxExtModuleInfo_t);
SAME(nvtx_extension, module, nvtxExtModuleInfo_t, moduleId);
SAME(nvtx_extension, segments, nvtxExtModuleInfo_t, segments);
SAME(nvtx_segment, slots, nvtxExtModuleSegment_t, functionSlots);
SAME(nvtx_callbacks, module, NvtxExportTableCallbacks, GetModuleFunctionTable);

SAME_NUMBER(NVTX_PAYLOAD_SCHEMA, HEADER_PAYLOAD_EXT);
SAME_NUMBER(NVTX_SCHEMA_HAS_NAME, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME);
SAME_NUMBER(NVTX_SCHEMA_HAS_ENTRIES, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES);
SAME_NUMBER(NVTX_SCHEMA_HAS_COUNT, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES);
SAME_NUMBER(NVTX_SCHEMA_HAS_ALIGN, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT);
SAME_NUMBER(NVTX_SCHEMA_HAS_ID, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID);
SAME_NUMBER(NVTX_ENUM_HAS_ENTRIES, NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES);
SAME_NUMBER(NVTX_ENUM_HAS_COUNT, NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES);
SAME_NUMBER(NVTX_ENUM_HAS_SIZE, NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE);
SAME_NUMBER(NVTX_ENUM_HAS_ID, NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID);
SAME_NUMBER(NVTX_ENTRY_POINTER, NVTX_PAYLOAD_ENTRY_FLAG_POINTER);
SAME_NUMBER(NVTX_ENTRY_ARRAY_FIXED, NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE);
SAME_NUMBER(NVTX_SCHEMA_STATIC, NVTX_PAYLOAD_SCHEMA_ID_STATIC_START);
SAME_NUMBER(NVTX_SCHEMA_DYNAMIC, NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START);
SAME_NUMBER(NVTX_TYPE_ULONGLONG, NVTX_PAYLOAD_ENTRY_TYPE_ULONGLONG);
SAME_NUMBER(NVTX_TYPE_UINT64, NVTX_PAYLOAD_ENTRY_TYPE_UINT64);
SAME_NUMBER(NVTX_TYPE_DOUBLE, NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE);
SAME_NUMBER(NVTX_TYPE_SIZE, NVTX_PAYLOAD_ENTRY_TYPE_SIZE);
SAME_NUMBER(NVTX_TYPE_FLOAT64, NVTX_PAYLOAD_ENTRY_TYPE_FLOAT64);
SAME_NUMBER(NVTX_TYPE_TID64, NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT64);
SAME_NUMBER(NVTX_TYPE_CSTRING8, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8);
SAME_NUMBER(NVTX_TYPE_REGISTERED, NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE);
SAME_NUMBER(NVTX_MODULE_CUDA, NVTX_CB_MODULE_CUDA);
SAME_NUMBER(NVTX_MODULE_CUDART, NVTX_CB_MODULE_CUDART);
SAME_NUMBER(NVTX_MODULE_CORE2, NVTX_CB_MODULE_CORE2);
SAME_NUMBER(NVTX_CUDA_NAME_STREAM, NVTX_CBID_CUDA_NameCuStreamA);
SAME_NUMBER(NVTX_CUDA_NAME_STREAM_WIDE, NVTX_CBID_CUDA_NameCuStreamW);
SAME_NUMBER(NVTX_CUDART_NAME_STREAM, NVTX_CBID_CUDART_NameCudaStreamA);
SAME_NUMBER(NVTX_CUDART_NAME_STREAM_WIDE, NVTX_CBID_CUDART_NameCudaStreamW);
SAME_NUMBER(NVTX_EXTENSION_PAYLOAD, NVTX_EXT_PAYLOAD_MODULEID);
SAME_NUMBER(NVTX_SLOT_SCHEMA, NVTX3EXT_CBID_nvtxPayloadSchemaRegister);
SAME_NUMBER(NVTX_SLOT_PUSH, NVTX3EXT_CBID_nvtxRangePushPayload);
SAME_NUMBER(NVTX_SLOT_IS_ENABLED, NVTX3EXT_CBID_nvtxDomainIsEnabled);
SAME_NUMBER(NVTX_PUSH_EX, NVTX_CBID_CORE_RangePushEx);
SAME_NUMBER(NVTX_POP, NVTX_CBID_CORE_RangePop);
SAME_NUMBER(NVTX_NAME_THREAD_WIDE, NVTX_CBID_CORE_NameOsThreadW);
SAME_NUMBER(NVTX_DOMAIN_PUSH_EX, NVTX_CBID_CORE2_DomainRangePushEx);
SAME_NUMBER(NVTX_DOMAIN_STRING, NVTX_CBID_CORE2_DomainRegisterStringA);
SAME_NUMBER(NVTX_DOMAIN_CREATE, NVTX_CBID_CORE2_DomainCreateA);

int main(void)
{
    return 0;
}
