// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"fmt"
	"strings"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/patches"
)

// ChangeSpec changes a workload in one write, by words of its kind. Of several values, as of claims=data,logs, each is one.
func ChangeSpec[T any](words *patches.Words, workload *T, changes ...string) {
	for _, change := range changes {
		key, values, _ := strings.Cut(change, "=")
		for value := range strings.SplitSeq(values, ",") {
			*workload = *patches.Changed(words, workload, key+"="+value)
		}
	}
	object := any(workload).(metav1.Object)
	object.SetGeneration(object.GetGeneration() + 1)
}

// edit changes a pod or all, a claim, or the revision of a place or all, by words.
func (w *Cluster) edit(d *datadriven.TestData) {
	which, words := d.CmdArgs[0].Key, []string{}
	for _, arg := range d.CmdArgs[1:] {
		words = append(words, strings.Join(append([]string{arg.Key}, arg.Vals...), "="))
	}
	for _, pod := range w.Pods {
		if d.Cmd == "edit" && (which == "all" || w.Alias(pod.Name) == which) {
			w.Edit(pod.Name, func(p *corev1.Pod) { *p = *patches.Changed(w.Words, p, words...) })
		}
	}
	for i, claim := range w.Claims {
		if d.Cmd == "edit-claim" && claim.Name == which {
			w.Claims[i] = patches.Changed(w.Words, claim, words...)
		}
	}
	for i, r := range w.Revisions {
		if d.Cmd == "edit-revision" && (which == "all" || fmt.Sprint(i) == which) {
			w.Revisions[i] = patches.Changed(w.Words, r, words...)
		}
	}
}
