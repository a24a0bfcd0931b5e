// SPDX-License-Identifier: Apache-2.0

package podstate

import (
	"maps"
	"slices"
)

// owned are the labels and annotations by which controllers and webhooks remember something of one pod. A template that was
// copied from a pod has them, and they are true of no other pod. All pods would be deleted at once, say, or count as
// updated. Revisions and instance ids are missing: each kind writes its own over them. They are spelled out, since API
// packages import this one; a test compares them.
var owned = []string{
	"apps.kruise.io/specified-delete",
	"lifecycle.apps.kruise.io/state", "lifecycle.apps.kruise.io/timestamp", "lifecycle.podwright.io/eviction-denied",
	"apps.kruise.io/inplace-update-state", "inplace-update-state", "apps.kruise.io/inplace-update-grace", "inplace-update-grace",
	"apps.kruise.io/runtime-containers-meta", "apps.kruise.io/container-launch-priority-completed",
	"apps.kruise.io/united-deployment-reserved-pod",
	"apps.kruise.io/matched-workloadspread",
	"kruise.io/injected-persistent-pod-state", "persistentpodstates.podwright.io/injected-node-selector",
	"kruise.io/related-pub",
	"kruise.io/sidecarset-hash", "kruise.io/sidecarset-hash-without-image", "kruise.io/sidecarset-injected-list",
	"kruise.io/sidecarset-inplace-update-state", "kruise.io/sidecarset-working-hotupgrade-container", "sidecar.podwright.io/phase-written",
}

// Owned returns the keys, of the labels or annotations of a template, that controllers own in each pod, in a fixed order.
func Owned(of map[string]string) (keys []string) {
	for _, key := range owned {
		if _, found := of[key]; found {
			keys = append(keys, key)
		}
	}
	return keys
}

// Unowned returns the labels or annotations of a template as its pods get them: without the keys that controllers own in each
// pod. It is a copy if there are such keys, and the map itself otherwise.
func Unowned(of map[string]string) map[string]string {
	if len(Owned(of)) == 0 {
		return of
	}
	of = maps.Clone(of)
	maps.DeleteFunc(of, func(key, _ string) bool { return slices.Contains(owned, key) })
	return of
}
