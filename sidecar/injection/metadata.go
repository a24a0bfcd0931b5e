// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// patchMetadata applies patchPodMetadata to a pod. (SCI-5)
func patchMetadata(pod *corev1.Pod, m matched) {
	changes, kept := Metadata(m.SidecarSet, pod.Annotations)
	for key, value := range changes {
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, key, value)
	}
	m.result.Kept = kept
}

// Metadata returns the annotations that patchPodMetadata of a SidecarSet makes of those of a pod, as
// far as they are others then. Kept says why MergePatchJson leaves an annotation as the pod has it,
// for each that it leaves. One of both values is no JSON object, or an array of the pod would be
// replaced. (SCI-5)
func Metadata(set *v1alpha1.SidecarSet, annotations map[string]string) (changes map[string]string, kept []error) {
	for p := range set.Spec.PatchPodMetadata {
		patch := &set.Spec.PatchPodMetadata[p]
		for _, key := range slices.Sorted(maps.Keys(patch.Annotations)) {
			before, has := annotations[key]
			if changed, is := changes[key]; is {
				before, has = changed, true
			}
			value, err := patched(before, has, patch.Annotations[key], patch.PatchPolicy)
			if err != nil {
				kept = append(kept, fmt.Errorf("spec.patchPodMetadata[%d].annotations[%s]: the pod's value stays: %w", p, key, err))
				continue
			}
			if has && value == before {
				continue
			}
			if changes == nil {
				changes = map[string]string{}
			}
			changes[key] = value
		}
	}
	return changes, kept
}

// patched is the value of an annotation after a patch.
func patched(before string, has bool, value string, policy v1alpha1.SidecarSetPatchPolicyType) (string, error) {
	switch policy {
	case v1alpha1.SidecarSetOverwritePatchPolicy:
		return value, nil
	case v1alpha1.SidecarSetMergePatchJSONPatchPolicy:
		if before == "" || before == value {
			return value, nil
		}
		return merged(before, value)
	default:
		if has {
			return before, nil
		}
		return value, nil
	}
}

// merged is the value of an annotation into which another is merged. The error says why it cannot be.
func merged(before, value string) (string, error) {
	var into, patch map[string]any
	if err := json.Unmarshal([]byte(before), &into); err != nil || into == nil {
		return "", errors.New("want two JSON objects to merge, and that of the pod is none")
	}
	if err := json.Unmarshal([]byte(value), &patch); err != nil || patch == nil {
		return "", errors.New("want two JSON objects to merge, and that of the SidecarSet is none")
	}
	if path := replacedArray(into, patch); path != "" {
		return "", fmt.Errorf("want no array of the pod replaced as a whole, and the merge would replace that of %s; use an object, or Overwrite", path)
	}
	merged, err := jsonpatch.MergePatch([]byte(before), []byte(value))
	if err != nil {
		return "", fmt.Errorf("merge two JSON objects: %w", err)
	}
	return string(merged), nil
}

// replacedArray is the path of an array for which a merge patch has another value; empty if there is none. What the patch
// removes, by null, it names itself.
func replacedArray(into, patch map[string]any) (path string) {
	for _, key := range slices.Sorted(maps.Keys(patch)) {
		switch before := into[key].(type) {
		case []any:
			if after := patch[key]; after != nil && !reflect.DeepEqual(before, after) {
				return key
			}
		case map[string]any:
			if deeper, is := patch[key].(map[string]any); is {
				if path := replacedArray(before, deeper); path != "" {
					return key + "." + path
				}
			}
		}
	}
	return ""
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
	some, regular := false, false
	for _, m := range sets {
		names[m.Name] = true
		inits := len(m.result.InitContainers) > 0 && i.features.RecordsInitContainers(m.SidecarSet)
		if regular = regular || len(m.result.Containers) > 0; len(m.result.Containers) == 0 && !inits {
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
	if regular {
		i.nameDefault()
	}
	if err := i.annotate(v1alpha1.SidecarSetHashAnnotation, withImage); err != nil {
		return err
	}
	if err := i.annotate(v1alpha1.SidecarSetHashWithoutImageAnnotation, withoutImage); err != nil {
		return err
	}
	return i.rememberHot()
}

// DefaultContainerAnnotation names, on a pod, the container that kubectl logs, exec and their like take if users name
// none: without it the first one.
const DefaultContainerAnnotation = "kubectl.kubernetes.io/default-container"

// nameDefault leaves the first of the pod's own containers the one that kubectl takes, if another stands in front of it
// now. (SCI-19)
func (i *injector) nameDefault() {
	if _, is := i.pod.Annotations[DefaultContainerAnnotation]; !is && len(i.own) > 0 && i.pod.Spec.Containers[0].Name != i.own[0].Name {
		i.pod.Annotations[DefaultContainerAnnotation] = i.own[0].Name
	}
}

// record writes down the hashes of a SidecarSet. A record that says the same stays as it
// is, with its time. (SCI-13, SCI-16)
func (i *injector) record(m matched, withImage, withoutImage map[string]v1alpha1.SidecarSetUpgradeRecord) error {
	hashes, err := i.features.HashesOf(m.SidecarSet)
	if err != nil {
		return err
	}
	record := i.features.NewRecord(m.SidecarSet, hashes.WithoutImage, i.now)
	put(withoutImage, record)
	record.SidecarSetHash, record.SidecarSetControllerRevision = hashes.Containers, m.revision
	put(withImage, record)
	return nil
}

// NewRecord returns what is written into a pod of a SidecarSet that it was injected or
// updated with, for one of both of its hashes. With NativeSidecars it names native sidecars too. (SCI-13, SCI-42)
func (f Features) NewRecord(set *v1alpha1.SidecarSet, hash string, now time.Time) v1alpha1.SidecarSetUpgradeRecord {
	record := v1alpha1.SidecarSetUpgradeRecord{UpdateTimestamp: metav1.NewTime(now), SidecarSetHash: hash, SidecarSetName: set.Name}
	for c := range set.Spec.Containers {
		record.SidecarList = append(record.SidecarList, set.Spec.Containers[c].Name)
	}
	for c := range set.Spec.InitContainers {
		if native := &set.Spec.InitContainers[c]; f.NativeSidecars && podstate.IsNative(&native.Container) {
			record.SidecarList = append(record.SidecarList, native.Name)
		}
	}
	slices.Sort(record.SidecarList)
	return record
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
