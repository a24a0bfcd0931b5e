// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podwright/podwright/examples/kubectl-podwright/explain"
	"github.com/podwright/podwright/examples/kubectl-podwright/plan"
	"github.com/podwright/podwright/examples/kubectl-podwright/workload"
)

// onlyTold returns the kinds of which explain says what their status says, sorted.
func onlyTold() (names []string) {
	for kind, place := range explain.Places() {
		if place.In != "" && !(kind.Group == workload.Group && asksPlanner[kind.Kind]) {
			names = append(names, strings.ToLower(kind.Kind))
		}
	}
	slices.Sort(names)
	return names
}

// asksPlanner has the kinds of which explain asks the planner.
var asksPlanner = map[string]bool{"CloneSet": true, "StatefulSet": true, "DaemonSet": true, "SidecarSet": true, "UnitedDeployment": true}

// explainTold prints what the status of an object says of what holds it up, if it is of a kind whose planner is not asked.
// It returns false for other kinds. (KC-22)
func (c *commands) explainTold(ctx context.Context, observer *explain.Observer, args []string, output string) (told bool, err error) {
	info, err := c.one(args)
	if err != nil {
		return false, err
	}
	kind := info.Mapping.GroupVersionKind.GroupKind()
	u, ok := info.Object.(*unstructured.Unstructured)
	place, known := explain.Places()[kind]
	switch {
	case !ok || !known || kind.Group == workload.Group && asksPlanner[kind.Kind]:
		return false, nil
	case place.In == "":
		return false, fmt.Errorf("the status of a %s does not say what holds it up: %s", kind.Kind, place.Not)
	}
	if observer.Kubernetes, err = c.factory.KubernetesClientSet(); err != nil {
		return false, err
	}
	s := &explain.Situation{Object: &workload.Object{Unstructured: *u}, Now: c.clock.Now()}
	unread := observer.FillLease(ctx, s)
	blockers := explain.Told(s)
	switch {
	case output != "":
		err = c.encode(output, explanation{Of: s.Object.Title(), Blockers: list(blockers), Next: []plan.Row{}})
	case len(blockers) == 0:
		fmt.Fprintln(c.Out, "Its status says of nothing that it has been held up for a minute.")
	default:
		for _, b := range blockers {
			fmt.Fprintln(c.Out, b)
		}
	}
	if unread != nil {
		fmt.Fprintf(c.ErrOut, "Could not be read:\n%v\n", unread)
	}
	return true, err
}
