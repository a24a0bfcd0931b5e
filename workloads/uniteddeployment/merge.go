// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// scalePatch is the merge patch that sets the number of pods and the partition of a
// workload. It is refused if another workload has taken the name. (UD-10.1)
func (c *Child) scalePatch(replicas int32, partition int32) []byte {
	spec := map[string]any{"replicas": replicas}
	if c.Partitioned && c.Kind == CloneSet {
		spec["updateStrategy"] = map[string]any{"partition": partition}
	} else if c.Partitioned {
		spec["updateStrategy"] = map[string]any{"rollingUpdate": map[string]any{"partition": partition}}
	}
	data, _ := json.Marshal(map[string]any{"metadata": map[string]any{"uid": c.Object.GetUID()}, "spec": spec}) // such values can always be encoded
	return data
}

// updatePatch is the merge patch that makes a workload, as it was read, what is wanted. Fields
// that the workload was given before, and that are not wanted any more, are removed; those
// that the template never said anything of stay. If nothing is known of before, all that the
// wanted pod template does not hold is removed from the pod template. The patch is refused
// if the workload has changed since it was read. (UD-10.2)
func (u *Update) updatePatch(live []byte) ([]byte, error) {
	var found unstructured.Unstructured
	if err := utiljson.Unmarshal(live, &found.Object); err != nil {
		return nil, fmt.Errorf("read what the API server holds: %w", err)
	}
	if found.GetUID() != u.Child.Object.GetUID() {
		return nil, fmt.Errorf("another workload has taken its name: want the UID %s, found %s", u.Child.Object.GetUID(), found.GetUID())
	}
	wanted, err := treeOf(u.Wanted)
	if err != nil {
		return nil, fmt.Errorf("encode the workload: %w", err)
	}
	spec, _ := wanted["spec"].(map[string]any)
	if before, err := u.before(found.GetAnnotations()[patchAnnotation]); err == nil && madeFor(found.Object) == madeFor(wanted) {
		removeOthers(spec, before)
	} else {
		template, _, _ := unstructured.NestedMap(found.Object, "spec", "template")
		removeOthers(spec, map[string]any{"template": template})
	}
	meta := map[string]any{"uid": found.GetUID(), "resourceVersion": found.GetResourceVersion(), "labels": u.Wanted.GetLabels()}
	annotations := map[string]any{}
	if found.GetAnnotations()[patchAnnotation] != "" {
		annotations[patchAnnotation] = nil
	}
	for key, value := range u.Wanted.GetAnnotations() {
		annotations[key] = value
	}
	if len(annotations) > 0 {
		meta["annotations"] = annotations
	}
	return json.Marshal(map[string]any{"metadata": meta, "spec": spec})
}

// madeFor is the subset that a workload was made for, as its selector says: its label may say another one since.
func madeFor(workload map[string]any) string {
	subset, _, _ := unstructured.NestedString(workload, "spec", "selector", "matchLabels", v1alpha1.SubsetNameLabel)
	return subset
}

// before is the spec that the workload was given when it was written last. It is of the
// revision that the workload names, with the patch that it names.
func (u *Update) before(patch string) (map[string]any, error) {
	if u.last == nil {
		return nil, fmt.Errorf("its revision %q is not known", u.Child.Revision)
	}
	r := *u.last
	subset := *r.subset
	r.subset = &subset
	subset.Patch = rawExtension(patch)
	before, err := r.render()
	if err != nil {
		return nil, err
	}
	tree, err := treeOf(before)
	if err != nil {
		return nil, err
	}
	spec, _ := tree["spec"].(map[string]any)
	return spec, nil
}

// removeOthers has a merge patch remove what old has beside it: a merge patch keeps what it
// does not name, at every depth.
func removeOthers(patch, old map[string]any) {
	for field, value := range old {
		wanted, present := patch[field]
		if !present {
			patch[field] = nil
			continue
		}
		into, ok := wanted.(map[string]any)
		if from, both := value.(map[string]any); ok && both {
			removeOthers(into, from)
		}
	}
}

// scaled tells whether the workload has the number of pods and the partition that it should.
func (c *Child) scaled(replicas, partition int32) bool {
	return c.Replicas == replicas && (!c.Partitioned || ptr.Equal(c.Partition, &partition))
}
