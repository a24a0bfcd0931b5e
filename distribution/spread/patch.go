// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// identity are the labels by which controllers know which pod of theirs one is, and of which revision. (WS-21.1)
var identity = []string{
	appsv1.ControllerRevisionHashLabelKey, appsv1.DefaultDeploymentUniqueLabelKey, appsv1.StatefulSetPodNameLabel, appsv1.PodIndexLabel,
	batchv1.ControllerUidLabel, batchv1.JobNameLabel, batchv1.JobCompletionIndexAnnotation, "controller-uid", "job-name",
	"apps.kruise.io/cloneset-instance-id",
}

// ValidatePatches says which patches of subsets take a pod away from its workload. They change or remove a label which
// the selector of the workload asks for, or a label by which controllers know their pods. Nil: the selector is not
// known. (WS-21.1)
func ValidatePatches(ws *v1alpha1.WorkloadSpread, selector *metav1.LabelSelector) (errs field.ErrorList) {
	for i := range ws.Spec.Subsets {
		if err := foreign(&ws.Spec.Subsets[i], selector); err != nil {
			errs = append(errs, field.Forbidden(field.NewPath("spec", "subsets").Index(i).Child("patch"), err.Error()))
		}
	}
	return errs
}

// foreign says why pods with the patch of a subset would be none of their workload; nil if they are. What cannot be applied
// makes no pods. (WS-11, WS-21.1)
func foreign(subset *v1alpha1.WorkloadSpreadSubset, selector *metav1.LabelSelector) error {
	before := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: selected(selector)}}
	after, err := patched(before, subset.Patch.Raw)
	if err != nil || after == before {
		return nil
	}
	return strayed(before.Labels, after.Labels, selector)
}

// selected are labels that a selector selects, and those by which controllers know their pods.
func selected(selector *metav1.LabelSelector) map[string]string {
	set := map[string]string{}
	for _, key := range identity {
		set[key] = ""
	}
	for _, r := range requirements(selector) {
		switch r.Operator() {
		case selection.In, selection.Equals, selection.DoubleEquals:
			set[r.Key()], _ = r.Values().PopAny()
		case selection.Exists:
			set[r.Key()] = ""
		default:
			delete(set, r.Key())
		}
	}
	return set
}

// strayed says what in the labels after a patch takes a pod away from the workload that had it before. (WS-21.1)
func strayed(before, after labels.Set, selector *metav1.LabelSelector) error {
	var wrong []string
	for _, r := range requirements(selector) {
		if r.Matches(before) && !r.Matches(after) {
			wrong = append(wrong, r.Key())
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("changes the label %s, by which the workload selects its pods (%s)", strings.Join(wrong, ", "), metav1.FormatLabelSelector(selector))
	}
	for _, key := range identity {
		is, has := after[key]
		if was, had := before[key]; is != was || has != had {
			wrong = append(wrong, key)
		}
	}
	if len(wrong) > 0 {
		slices.Sort(wrong)
		return fmt.Errorf("changes the label %s, by which controllers know their pods", strings.Join(slices.Compact(wrong), ", "))
	}
	return nil
}

// requirements are what a selector asks for: nothing if there is none, or it cannot be read.
func requirements(selector *metav1.LabelSelector) labels.Requirements {
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return nil
	}
	all, _ := parsed.Requirements()
	return all
}

// judgePatch says in the status of a subset that its patch takes pods away from the workload, and so none is created. (WS-21.1)
func (c *computer) judgePatch(subset *v1alpha1.WorkloadSpreadSubset, status, before *v1alpha1.WorkloadSpreadSubsetStatus) {
	err := foreign(subset, c.Workload.selector())
	if err == nil {
		return
	}
	now := v1alpha1.WorkloadSpreadSubsetCondition{Type: v1alpha1.SubsetPatchApplies, Status: corev1.ConditionFalse,
		LastTransitionTime: metav1.NewTime(c.Now), Reason: v1alpha1.PatchBreaksSelectorReason,
		Message: "no pod is created in this subset: its patch " + err.Error()}
	if old := conditionOf(before, now.Type); old != nil {
		now.LastTransitionTime = old.LastTransitionTime
	}
	status.Conditions = append(status.Conditions, now)
}
