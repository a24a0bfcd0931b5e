// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"testing"

	"github.com/podwright/podwright/internal/testing/appliers"
	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/workloads/conversion"
)

// ofKind is an object of a kind in a version, with the given further fields.
func ofKind(kind, version, fields string) string {
	return `{"apiVersion":"` + version + `","kind":"` + kind + `",` + fields + `}`
}

// byKind are the conversions.
var byKind = map[string]conformance.Convert{
	"StatefulSet": conversion.StatefulSet, "DaemonSet": conversion.DaemonSet, "BroadcastJob": conversion.BroadcastJob, "AdvancedCronJob": conversion.AdvancedCronJob,
}

// DS-V3: server-side apply in either version loses nothing, and takes away what it owned.
func TestServerSideApplyOfDaemonSets(t *testing.T) {
	appliers.Kind{Name: "DaemonSet", Convert: conversion.DaemonSet, Fields: []appliers.Field{
		appliers.Beta("spec.scaleStrategy.partitionedScaling", true, false), appliers.Beta("spec.scaleStrategy.new", int64(1)),
		appliers.Twins([]string{"status", "daemonSetHash"}, []string{"status", "updateRevision"}, "a", "b"),
		appliers.Both("spec.minReadySeconds", int64(3), int64(4)), appliers.Both("spec.updateStrategy.rollingUpdate.partition", int64(3), "50%"),
	}}.Judge(t)
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
