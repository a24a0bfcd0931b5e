// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"encoding/json"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// selects tells whether a pod of the workload is to be spread. (WS-33)
func (f *spreading) selects(pod *corev1.Pod) bool {
	filter := f.Spec.TargetFilter
	if filter == nil || filter.Selector == nil {
		return true
	}
	selector, err := metav1.LabelSelectorAsSelector(filter.Selector)
	return err == nil && selector.Matches(labels.Set(pod.Labels))
}

// filter reads how many pods are wanted at the paths of the WorkloadSpread; false if nothing is there, so that it is not known. (WS-34)
func (f *spreading) filter() bool {
	if f.Spec.TargetFilter == nil || len(f.Spec.TargetFilter.ReplicasPathList) == 0 {
		return true
	}
	for _, kind := range []string{"clonesets", "deployments", "jobs", customResource} {
		object := f.state.Beside[kind]
		if object == nil {
			continue
		}
		text, err := json.Marshal(object)
		if err != nil {
			return false
		}
		sum := int32(0)
		for _, path := range f.Spec.TargetFilter.ReplicasPathList {
			n, found := walk(text, path)
			if !found {
				return false
			}
			sum += n
		}
		if f.wants = sum; object.GetDeletionTimestamp() != nil {
			f.wants = 0
		}
	}
	return true
}

// walk reads a number in JSON.
func walk(text json.RawMessage, path string) (int32, bool) {
	first, rest, more := strings.Cut(path, ".")
	var fields map[string]json.RawMessage
	if json.Unmarshal(text, &fields) != nil || fields[first] == nil {
		return 0, false
	}
	if more {
		return walk(fields[first], rest)
	}
	n, err := strconv.ParseInt(string(fields[first]), 10, 32)
	return int32(n), err == nil
}
