// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// patchMetadata applies patchPodMetadata to a pod. (SCI-5)
func patchMetadata(pod *corev1.Pod, m matched) error {
	for p := range m.Spec.PatchPodMetadata {
		patch := &m.Spec.PatchPodMetadata[p]
		for _, key := range slices.Sorted(maps.Keys(patch.Annotations)) {
			value, err := patched(pod.Annotations, key, patch.Annotations[key], patch.PatchPolicy)
			if err != nil {
				return fmt.Errorf("spec.patchPodMetadata[%d].annotations[%s]: %w", p, key, err)
			}
			metav1.SetMetaDataAnnotation(&pod.ObjectMeta, key, value)
		}
	}
	return nil
}

// patched is the value of an annotation after a patch.
func patched(annotations map[string]string, key, value string, policy v1alpha1.SidecarSetPatchPolicyType) (string, error) {
	before, has := annotations[key]
	switch policy {
	case v1alpha1.SidecarSetOverwritePatchPolicy:
		return value, nil
	case v1alpha1.SidecarSetMergePatchJSONPatchPolicy:
		if before == "" || before == value {
			return value, nil
		}
		merged, err := jsonpatch.MergePatch([]byte(before), []byte(value))
		if err != nil {
			return "", fmt.Errorf("merge %q into the pod's %q, want two JSON objects: %w", value, before, err)
		}
		return string(merged), nil
	default:
		if has {
			return before, nil
		}
		return value, nil
	}
}

// remember writes down what was injected. (SCI-12 to SCI-14)
func (i *injector) remember(sets []matched) error {
	if i.pod.Annotations == nil {
		i.pod.Annotations = map[string]string{}
	}
	names := map[string]bool{}
	for name := range strings.SplitSeq(i.pod.Annotations[v1alpha1.SidecarSetInjectedListAnnotation], ",") {
		names[name] = name != ""
	}
	withImage, err := Records(i.pod, v1alpha1.SidecarSetHashAnnotation)
	if err != nil {
		return err
	}
	withoutImage, err := Records(i.pod, v1alpha1.SidecarSetHashWithoutImageAnnotation)
	if err != nil {
		return err
	}
	some := false
	for _, m := range sets {
		names[m.Name] = true
		if len(m.result.Containers) == 0 {
			continue
		}
		some = true
		if err := i.record(m, withImage, withoutImage); err != nil {
			return err
		}
	}
	maps.DeleteFunc(names, func(_ string, is bool) bool { return !is })
	i.pod.Annotations[v1alpha1.SidecarSetInjectedListAnnotation] = strings.Join(slices.Sorted(maps.Keys(names)), ",")
	if !some {
		return nil
	}
	if err := i.annotate(v1alpha1.SidecarSetHashAnnotation, withImage); err != nil {
		return err
	}
	if err := i.annotate(v1alpha1.SidecarSetHashWithoutImageAnnotation, withoutImage); err != nil {
		return err
	}
	return i.rememberHot()
}

// record writes down the hashes of a SidecarSet. A record that says the same stays as it
// is, with its time. (SCI-13, SCI-16)
func (i *injector) record(m matched, withImage, withoutImage map[string]v1alpha1.SidecarSetUpgradeRecord) error {
	hashes, err := HashesOf(m.SidecarSet)
	if err != nil {
		return err
	}
	record := v1alpha1.SidecarSetUpgradeRecord{UpdateTimestamp: metav1.NewTime(i.now), SidecarSetHash: hashes.WithoutImage, SidecarSetName: m.Name}
	for _, c := range m.Spec.Containers {
		record.SidecarList = append(record.SidecarList, c.Name)
	}
	slices.Sort(record.SidecarList)
	put(withoutImage, record)
	record.SidecarSetHash, record.SidecarSetControllerRevision = hashes.Containers, m.revision
	put(withImage, record)
	return nil
}

func put(records map[string]v1alpha1.SidecarSetUpgradeRecord, record v1alpha1.SidecarSetUpgradeRecord) {
	before := records[record.SidecarSetName]
	if before.SidecarSetHash == record.SidecarSetHash && before.SidecarSetControllerRevision == record.SidecarSetControllerRevision &&
		slices.Equal(before.SidecarList, record.SidecarList) {
		return
	}
	records[record.SidecarSetName] = record
}

func (i *injector) annotate(key string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode annotation %s: %w", key, err)
	}
	i.pod.Annotations[key] = string(data)
	return nil
}

// Records reads SidecarSetHashAnnotation or SidecarSetHashWithoutImageAnnotation of a pod,
// by the name of the SidecarSet. Plain hashes, as OpenKruise before 0.5 wrote them, are
// records with a hash and a name. An absent annotation gives an empty map; one that
// cannot be read an error. (SCI-13)
func Records(pod *corev1.Pod, annotation string) (map[string]v1alpha1.SidecarSetUpgradeRecord, error) {
	records := map[string]v1alpha1.SidecarSetUpgradeRecord{}
	text := pod.Annotations[annotation]
	if text == "" {
		return records, nil
	}
	err := json.Unmarshal([]byte(text), &records)
	if err == nil {
		return records, nil
	}
	var hashes map[string]string
	if json.Unmarshal([]byte(text), &hashes) != nil {
		return nil, fmt.Errorf("annotation %s of the pod is no JSON object of records: %w; correct or remove it", annotation, err)
	}
	clear(records)
	for name, hash := range hashes {
		records[name] = v1alpha1.SidecarSetUpgradeRecord{SidecarSetHash: hash, SidecarSetName: name}
	}
	return records, nil
}
