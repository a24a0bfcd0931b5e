// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
)

// persistentPodState is a PersistentPodState as YAML with these lines in its spec.
func persistentPodState(lines string) string {
	return "apiVersion: apps.kruise.io/v1alpha1\nkind: PersistentPodState\nmetadata: {name: web, namespace: shop}\nspec:\n  " +
		strings.ReplaceAll(lines, "\n", "\n  ")
}

// PPS-3: the rules of the definition and the webhook refuse the same. Which kinds there are, the definition does not know.
func TestPersistentPodState(t *testing.T) {
	v := newValidator(t, "persistentpodstates.apps.kruise.io", "v1alpha1")
	const (
		web       = "targetRef: {apiVersion: apps/v1, kind: StatefulSet, name: web}"
		required  = "\nrequiredPersistentTopology: {nodeTopologyKeys: [kubernetes.io/hostname]}"
		preferred = "\npreferredPersistentTopology: [{weight: 1, preference: {nodeTopologyKeys: []}}]"
	)
	create := func(s *v1alpha1.PersistentPodState) field.ErrorList { return podstate.ValidateCreate(s, nil) }
	for _, test := range []struct{ name, spec, want string }{
		{"required", web + required, ""},
		{"preferred", web + preferred, ""},
		{"both, annotations, and an unknown policy", web + required + preferred + "\npersistentPodAnnotations: [{key: a}]\npersistentPodStateRetentionPolicy: Any", ""},
		{"no keys", web + "\nrequiredPersistentTopology: {nodeTopologyKeys: []}", ""},
		{"no topology", web, "spec: give requiredPersistentTopology, preferredPersistentTopology or both"},
		{"no preferred topology", web + "\npreferredPersistentTopology: []", "spec: give requiredPersistentTopology, preferredPersistentTopology or both"},
		{"an empty name", "targetRef: {apiVersion: apps/v1, kind: StatefulSet, name: ''}" + required, "spec.targetRef: needs apiVersion, kind and name"},
		{"no version", "targetRef: {apiVersion: a/b/c, kind: StatefulSet, name: web}" + required, "spec.targetRef.apiVersion: must be VERSION or GROUP/VERSION"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var want []string
			if test.want != "" {
				want = []string{test.want}
			}
			object := persistentPodState(test.spec)
			got := v.judge(t, object, "")
			check(t, want, got)
			agree(t, object, got, create(read[v1alpha1.PersistentPodState](t, object)))
		})
	}
	check(t, []string{"spec: a PersistentPodState needs a spec with targetRef, and requiredPersistentTopology or preferredPersistentTopology"},
		v.judge(t, "{apiVersion: apps.kruise.io/v1alpha1, kind: PersistentPodState, metadata: {name: web}}", ""))
	old := persistentPodState(web + required)
	check(t, nil, v.judge(t, persistentPodState(web+preferred), old))
	check(t, []string{"spec.targetRef: cannot be modified"},
		v.judge(t, persistentPodState("targetRef: {apiVersion: apps/v1, kind: StatefulSet, name: db}"+required), old))
}
