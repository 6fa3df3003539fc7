# SPDX-License-Identifier: Apache-2.0
"""Reads exports of traces (OTLP's JSON) from files by OpenTelemetry's own definitions; prints a line a span."""
import base64
import json
import sys

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1 import trace_pb2


def with_base64(value):
    """OTLP writes ids in hexadecimal digits where protobuf's JSON has base64."""
    if isinstance(value, list):
        return [with_base64(item) for item in value]
    if not isinstance(value, dict):
        return value
    ids = ("traceId", "spanId", "parentSpanId")
    return {
        name: base64.b64encode(bytes.fromhex(item)).decode() if name in ids else with_base64(item)
        for name, item in value.items()
    }


for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as file:
        export = ExportTraceServiceRequest()
        # Fails for a member that the definitions do not have, and for a value of another type.
        json_format.ParseDict(with_base64(json.load(file)), export, ignore_unknown_fields=False)
    for resource in export.resource_spans:
        service = {item.key: item.value.string_value for item in resource.resource.attributes}["service.name"]
        for scope in resource.scope_spans:
            for span in scope.spans:
                assert len(span.trace_id) == 16 and any(span.trace_id), span
                assert len(span.span_id) == 8 and any(span.span_id), span
                assert len(span.parent_span_id) in (0, 8), span
                assert 0 < span.start_time_unix_nano <= span.end_time_unix_nano, span
                kind = trace_pb2.Span.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_")
                status = trace_pb2.Status.StatusCode.Name(span.status.code).removeprefix("STATUS_CODE_")
                print(service, span.trace_id.hex(), span.parent_span_id.hex() or "-", kind, status, span.name, sep="\t")
