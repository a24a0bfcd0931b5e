// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podwright/podwright/internal/testing/appliers"
	"github.com/podwright/podwright/workloads/conversion"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// later are the fields that v1beta1 alone has, one a line, of spec and of status.
var later = map[string]string{"spec": `"reserveOrdinals":[1,"3-5"]
"ordinals":{"start":7}
"volumeClaimUpdateStrategy":{"type":"OnPodRollingUpdate"}
"lifecycle":{"preDelete":{"markPodNotReady":true,"finalizersHandler":["a/b"]},"inPlaceUpdate":{"labelsHandler":{"a":"b"}},"preNormal":{"finalizersHandler":["c/d"]}}
"scaleStrategy":{"maxUnavailable":"10%"}
"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Delete","whenScaled":"Retain"}`, "status": `"updatedReadyReplicas":2
"updatedAvailableReplicas":1
"volumeClaims":[{"volumeClaimName":"data","compatibleReplicas":1,"compatibleReadyReplicas":0}]`}

// A v1alpha1 client reads, changes what it knows and writes back, as structs: what it does not know, one field or all, must not suffer.
func TestReadModifyWriteInV1alpha1(t *testing.T) {
	for section, fields := range later {
		for _, some := range append(strings.Split(fields, "\n"), strings.ReplaceAll(fields, "\n", ",")) {
			stored := []byte(set(beta, `"metadata":{"name":"web"},"`+section+`":{"replicas":3,`+some+`}`))
			read, want, got := &v1alpha1.StatefulSet{}, &v1beta1.StatefulSet{}, &v1beta1.StatefulSet{}
			decode(t, convert(t, stored, alpha), read)
			read.Spec.Replicas = new(int32(5))
			written, err := json.Marshal(read)
			if err != nil {
				t.Fatal(err)
			}
			decode(t, stored, want)
			want.Spec.Replicas = new(int32(5))
			decode(t, convert(t, written, beta), got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: v1beta1 after the write (-want +got):\n%s", some, diff)
			}
		}
	}
}

func decode(t *testing.T, data []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
}

// STS-V3: server-side apply in either version loses nothing, and takes away what it owned.
func TestServerSideApply(t *testing.T) {
	appliers.Kind{Name: "StatefulSet", Convert: conversion.StatefulSet, Fields: []appliers.Field{
		appliers.Both("spec.replicas", int64(3), int64(4)), appliers.Both("spec.updateStrategy.type", "OnDelete"),
		appliers.Beta("spec.reserveOrdinals", []any{int64(1)}, []any{int64(1), int64(2)}),
		appliers.Beta("spec.ordinals.start", int64(7), int64(8)), appliers.Beta("spec.scaleStrategy.maxUnavailable", int64(1), "50%"),
		appliers.Beta("spec.persistentVolumeClaimRetentionPolicy.whenDeleted", "Retain", "Delete"),
		appliers.Beta("spec.persistentVolumeClaimRetentionPolicy.whenScaled", "Retain"),
		appliers.Beta("spec.lifecycle.preDelete.markPodNotReady", true, false), appliers.Beta("spec.lifecycle.inPlaceUpdate.markPodNotReady", true),
		appliers.Beta("spec.lifecycle.preDelete.labelsHandler.a", "b", "c"), appliers.Beta("spec.lifecycle.preDelete.labelsHandler.a/b", "b", "c"),
		appliers.Beta("spec.volumeClaimUpdateStrategy.type", "OnDelete", "OnPodRollingUpdate"),
		appliers.Beta("status.updatedReadyReplicas", int64(3), int64(4)), appliers.Beta("status.updatedAvailableReplicas", int64(3)),
	}}.Judge(t)
}
