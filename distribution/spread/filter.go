// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

var (
	filterPath   = field.NewPath("spec", "targetFilter")
	replicasPath = filterPath.Child("replicasPathList")
)

// selects returns what tells whether a pod of the workload is one that a WorkloadSpread spreads. A selector that cannot be read
// selects none. (WS-33)
func selects(ws *v1alpha1.WorkloadSpread) func(*corev1.Pod) bool {
	f := ws.Spec.TargetFilter
	if f == nil || f.Selector == nil {
		return func(*corev1.Pod) bool { return true }
	}
	selector, err := metav1.LabelSelectorAsSelector(f.Selector)
	return func(pod *corev1.Pod) bool { return err == nil && selector.Matches(labels.Set(pod.Labels)) }
}

// selectedBy returns the pods of the workload that a WorkloadSpread spreads. (WS-33)
func selectedBy(ws *v1alpha1.WorkloadSpread, pods []*corev1.Pod) (all []*corev1.Pod) {
	if ws.Spec.TargetFilter == nil || ws.Spec.TargetFilter.Selector == nil {
		return pods
	}
	is := selects(ws)
	for _, pod := range pods {
		if pod != nil && is(pod) {
			all = append(all, pod)
		}
	}
	return all
}

// ReplicasPaths are the paths of the workload at which it says how many pods a WorkloadSpread is about. There are none if
// that is as many as the workload wants. (WS-34)
func ReplicasPaths(ws *v1alpha1.WorkloadSpread) []string {
	if ws.Spec.TargetFilter == nil {
		return nil
	}
	return ws.Spec.TargetFilter.ReplicasPathList
}

// FilteredReplicas adds up what a workload says at the paths of a WorkloadSpread. The content is that of the workload, as JSON is
// decoded. The error names the path and what stands there instead of a number of pods. (WS-34)
func FilteredReplicas(ws *v1alpha1.WorkloadSpread, content map[string]any) (int32, error) {
	var sum int64
	for i, path := range ReplicasPaths(ws) {
		n, err := ReplicasAt(content, path)
		if err != nil {
			return 0, field.Invalid(replicasPath.Index(i), path, err.Error())
		}
		sum = min(sum+n, math.MaxInt32)
	}
	return int32(sum), nil
}

// ReplicasAt reads the number of pods at a path of an object: names with dots between, and numbers for the entries of lists, from
// 0. An empty path is 0. The error says how far the path goes, and what stands there. (WS-34)
func ReplicasAt(content map[string]any, path string) (int64, error) {
	if path == "" {
		return 0, nil
	}
	var at any = content
	parts := strings.Split(path, ".")
	for i, part := range parts {
		where := "the workload"
		if i > 0 {
			where = strings.Join(parts[:i], ".") + " of the workload"
		}
		switch inner := at.(type) {
		case map[string]any:
			value, found := inner[part]
			if !found {
				return 0, fmt.Errorf("%s has no %q", where, part)
			}
			at = value
		case []any:
			index, err := strconv.ParseUint(part, 10, 31)
			if err != nil || index >= uint64(len(inner)) {
				return 0, fmt.Errorf("%s is a list of %d, and has no entry %q", where, len(inner), part)
			}
			at = inner[index]
		default:
			return 0, fmt.Errorf("%s is %s, and has no %q", where, typeName(at), part)
		}
	}
	n, is := at.(int64)
	if !is {
		return 0, fmt.Errorf("it is %s in the workload, and must be a whole number", typeName(at))
	}
	if n < 0 {
		return 0, fmt.Errorf("it is %d in the workload, and must be at least 0", n)
	}
	return n, nil
}

// typeName says what a value of JSON is.
func typeName(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case string:
		return "a text"
	case bool:
		return "true or false"
	}
	if _, is := value.(int64); is {
		return "a number"
	}
	return "a number with a fraction"
}

// validateFilter checks that the selector can be read, and that no path has an empty part. (WS-33, WS-34)
func validateFilter(f *v1alpha1.TargetFilter) (errs field.ErrorList) {
	if f == nil {
		return nil
	}
	errs = metav1validation.ValidateLabelSelector(f.Selector, metav1validation.LabelSelectorValidationOptions{}, filterPath.Child("selector"))
	for i, path := range f.ReplicasPathList {
		if path != "" && (strings.HasPrefix(path, ".") || strings.HasSuffix(path, ".") || strings.Contains(path, "..")) {
			errs = append(errs, field.Invalid(replicasPath.Index(i), path, "must be names and numbers with dots between, such as spec.replicas or spec.roles.0.replicas"))
		}
	}
	return errs
}
