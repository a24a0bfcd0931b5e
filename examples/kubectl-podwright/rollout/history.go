// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubectl/pkg/describe"
	"k8s.io/kubectl/pkg/polymorphichelpers"

	"github.com/podwright/podwright/examples/kubectl-podwright/workload"
)

// errNoRevision is kubectl's answer to a number that no revision has.
var errNoRevision = errors.New("unable to find the specified revision")

// historyViewer prints the history of a workload.
type historyViewer struct{ *revisions }

// ViewHistory lists the revisions, or prints the pod template of one. (KC-5)
func (v *historyViewer) ViewHistory(namespace, name string, number int64) (string, error) {
	o, history, err := v.read(namespace, name)
	if err != nil {
		return "", err
	}
	if len(history) == 0 {
		return "No rollout history found.", nil
	}
	if number == 0 {
		return overview(history)
	}
	for _, r := range history {
		if r.Revision == number {
			return describeTemplate(o, r)
		}
	}
	return "", errNoRevision
}

// GetHistory returns the workload as it was at each revision.
func (v *historyViewer) GetHistory(namespace, name string) (map[int64]runtime.Object, error) {
	o, history, err := v.read(namespace, name)
	if err != nil {
		return nil, err
	}
	objects := map[int64]runtime.Object{}
	for _, r := range history {
		if objects[r.Revision], err = restored(o, r); err != nil {
			return nil, err
		}
	}
	return objects, nil
}

func (v *historyViewer) read(namespace, name string) (*workload.Object, []*appsv1.ControllerRevision, error) {
	o, err := v.get(context.TODO(), namespace, name)
	if err != nil {
		return nil, nil, err
	}
	history, err := v.of(context.TODO(), o)
	return o, history, err
}

// overview lists revisions as kubectl does.
func overview(history []*appsv1.ControllerRevision) (string, error) {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "REVISION\tCHANGE-CAUSE")
	for _, r := range history {
		cause := r.Annotations[polymorphichelpers.ChangeCauseAnnotation]
		if cause == "" {
			cause = "<none>"
		}
		fmt.Fprintf(table, "%d\t%s\n", r.Revision, cause)
	}
	err := table.Flush()
	return text.String(), err
}

// describeTemplate describes what pods get of a workload at a revision.
func describeTemplate(o *workload.Object, r *appsv1.ControllerRevision) (string, error) {
	was, err := restored(o, r)
	if err != nil {
		return "", err
	}
	template, err := podTemplate(was)
	if err != nil {
		return "", err
	}
	var text bytes.Buffer
	w := describe.NewPrefixWriter(&text)
	describe.DescribePodTemplate(template, w)
	for _, secret := range template.Spec.ImagePullSecrets {
		w.Write(describe.LEVEL_1, "Image Pull Secret:\t%s\n", secret.Name)
	}
	patches, _, _ := unstructured.NestedSlice(was.Object, "spec", "patchPodMetadata")
	for _, patch := range patches {
		fields, _ := patch.(map[string]any)
		w.Write(describe.LEVEL_1, "Patch Of Pod Metadata:\t%v, annotations %v\n", fields["patchPolicy"], fields["annotations"])
	}
	return text.String(), nil
}
