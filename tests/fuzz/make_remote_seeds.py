#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Seeds of fuzz_remote: what stores and their authorities answer, as their own documents show it; the first byte chooses the reader."""

import pathlib

SEEDS = pathlib.Path(__file__).resolve().parent / "seeds/remote"

TEXTS = {
    "s3_list": (0, '<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name><EncodingType>url</EncodingType>'
                   "<IsTruncated>true</IsTruncated><NextContinuationToken>1u</NextContinuationToken><Contents><Key>run/plugins/profile/2026_11_21_09_30_00/h.xplane.pb</Key>"
                   "<LastModified>2009-10-12T17:50:30.250Z</LastModified><ETag>&quot;fba9&quot;</ETag><Size>434234</Size></Contents>"
                   "<Contents><Key>run/../x%2Fy+z.xplane.pb</Key><Size>1</Size></Contents></ListBucketResult>"),
    "azure_list": (1, '<EnumerationResults><Blobs><Blob><Name>run/x &amp; y.pb</Name><Properties><Last-Modified>Mon, 27 Jul 2009 12:28:53 GMT</Last-Modified>'
                      "<Etag>0x8C</Etag><Content-Length>100</Content-Length><ResourceType>directory</ResourceType></Properties></Blob></Blobs>"
                      "<NextMarker>2!80</NextMarker></EnumerationResults>"),
    "google_list": (2, '{"nextPageToken":"Cg","items":[{"name":"run//a.xplane.pb","size":"17","updated":"2023-03-01T10:20:30.123Z","generation":"1677666030123456"}]}'),
    "s3_error": (3, "<Error><Code>AuthorizationHeaderMalformed</Code><Message>x</Message><Region>eu-west-1</Region></Error>"),
    "google_error": (3, '{"error":{"code":403,"message":"no access"}}'),
    "keys_json": (4, '{"AccessKeyId":"ASIA","SecretAccessKey":"s","Token":"t","Expiration":"2017-05-17T15:09:54Z"}'),
    "keys_xml": (5, "<R><C><SessionToken>T</SessionToken><SecretAccessKey>S</SecretAccessKey><Expiration>2014-10-24T23:00:23Z</Expiration><AccessKeyId>A</AccessKeyId></C></R>"),
    "token": (6, '{"access_token":"ya29","expires_in":3599}'),
    "file": (7, '{"type":"external_account","audience":"a","credential_source":{"file":"/t","format":{"type":"json","subject_token_field_name":"f"}}}'),
    "profiles": (8, "[default]\nregion = eu-west-1\n[profile team]\naws_secret_access_key = a/b+c==\ns3 =\n  addressing_style = path\n"),
    "time": (9, "Fri, 24 May 2013 00:00:00 GMT"),
    "place": (10, "abfss://c@account.dfs.core.windows.net/a b/"),
}

if __name__ == "__main__":
    SEEDS.mkdir(parents=True, exist_ok=True)
    for name, (which, text) in TEXTS.items():
        (SEEDS / name).write_bytes(bytes([which]) + text.encode())
