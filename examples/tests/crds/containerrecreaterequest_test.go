// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"fmt"
	"strings"
	"testing"
)

// recreateRequest is a ContainerRecreateRequest as YAML with these lines in its
// spec, besides podName and containers if the lines do not give those
// themselves.
func recreateRequest(lines string) string {
	for _, field := range []string{"podName: web-0", "containers: [{name: main}]"} {
		if name, _, _ := strings.Cut(field, ":"); !strings.Contains(lines, name+":") {
			lines += "\n" + field
		}
	}
	return "apiVersion: apps.kruise.io/v1alpha1\nkind: ContainerRecreateRequest\nmetadata: {name: restart}\nspec:\n  " +
		strings.ReplaceAll(strings.TrimSpace(lines), "\n", "\n  ")
}

func TestContainerRecreateRequest(t *testing.T) {
	v := newValidator(t, "containerrecreaterequests.apps.kruise.io", "v1alpha1")
	for _, test := range []struct {
		name, spec, want string // no want: accepted
	}{
		{"the least", "", ""},
		{"CRR-2: an empty strategy", "strategy: {}", ""},
		{"CRR-2: everything", "activeDeadlineSeconds: 300\nttlSecondsAfterFinished: 600\nstrategy: {failurePolicy: Ignore, orderedRecreate: true, forceRecreate: true, terminationGracePeriodSeconds: 10, unreadyGracePeriodSeconds: 5, minStartedSeconds: 5}", ""},
		{"CRR-2: minStartedSeconds and the TTL are not validated", "ttlSecondsAfterFinished: -1\nstrategy: {minStartedSeconds: -1}", ""},
		{"CRR-3.3: what the webhook fills in", "containers: [{name: main, preStop: {httpGet: {port: http, path: /bye}}, ports: [{name: http, containerPort: 80}], statusContext: {containerID: 'containerd://1', restartCount: 0}}]", ""},
		{"a preStop hook that 1.4 did not know", "containers: [{name: main, preStop: {sleep: {seconds: 3}}}]", ""},

		{"CRR-3.2.1: podName missing", "podName: null", `spec.podName: spec.podName in body must be of type string: "null"`},
		{"CRR-3.2.1: podName empty", "podName: ''", "spec.podName: must name a pod"},
		{"CRR-3.2.2: no containers", "containers: []", "spec.containers: must name at least one container of the pod"},
		{"CRR-3.2.3: activeDeadlineSeconds 3", "activeDeadlineSeconds: 3", ""},
		{"CRR-3.2.3: activeDeadlineSeconds 2", "activeDeadlineSeconds: 2", "spec.activeDeadlineSeconds: must be 3 or more"},
		{"CRR-3.2.4: terminationGracePeriodSeconds 0", "strategy: {terminationGracePeriodSeconds: 0}", ""},
		{"CRR-3.2.4: terminationGracePeriodSeconds negative", "strategy: {terminationGracePeriodSeconds: -1}", "spec.strategy.terminationGracePeriodSeconds: must be 0 or more"},
		{"CRR-3.2.4: unreadyGracePeriodSeconds 0", "strategy: {unreadyGracePeriodSeconds: 0}", ""},
		{"CRR-3.2.4: unreadyGracePeriodSeconds negative", "strategy: {unreadyGracePeriodSeconds: -1}", "spec.strategy.unreadyGracePeriodSeconds: must be 0 or more"},
		{"CRR-3.2.5: failurePolicy Fail", "strategy: {failurePolicy: Fail}", ""},
		{"CRR-3.2.5: failurePolicy empty is the default", "strategy: {failurePolicy: ''}", ""},
		{"CRR-3.2.5: failurePolicy unknown", "strategy: {failurePolicy: fail}", "spec.strategy.failurePolicy: must be Fail or Ignore, is fail"},
		{"CRR-3.2.9: a container without a name", "containers: [{name: main}, {name: ''}]", "spec.containers: every name must name a container of the pod"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var want []string
			if test.want != "" {
				want = []string{test.want}
			}
			check(t, want, v.judge(t, recreateRequest(test.spec), ""))
		})
	}
}

func TestContainerRecreateRequestWithoutSpec(t *testing.T) {
	v := newValidator(t, "containerrecreaterequests.apps.kruise.io", "v1alpha1")
	check(t, []string{"spec: a ContainerRecreateRequest needs a spec with podName and containers"},
		v.judge(t, "{apiVersion: apps.kruise.io/v1alpha1, kind: ContainerRecreateRequest, metadata: {name: restart}}", ""))
}

// CRR-3.1. A client that has read a request writes it back. What it writes lacks the zero values
// that were spelled out, and the hooks that the client does not know. To the client nothing has
// changed.
func TestContainerRecreateRequestIsImmutable(t *testing.T) {
	v := newValidator(t, "containerrecreaterequests.apps.kruise.io", "v1alpha1")
	const (
		main     = "containers: [{name: main, statusContext: {containerID: 'a://1', restartCount: 0}}]"
		hook     = "containers: [{name: main, preStop: {exec: {command: [bye]}}}]"
		sleeping = "containers: [{name: main, preStop: {sleep: {seconds: 3}}}]"
	)
	for _, test := range []struct {
		name, from, to, field string // no field: accepted
	}{
		{"nothing changes", main, main, ""},
		{"zero values go", "strategy: {failurePolicy: '', orderedRecreate: false, forceRecreate: false, minStartedSeconds: 0}", "strategy: {}", ""},
		{"an empty strategy comes", "", "strategy: {}", ""},
		{"the default comes", "strategy: {}", "strategy: {failurePolicy: Fail}", ""},
		{"an unknown hook goes", sleeping, "containers: [{name: main, preStop: {}}]", ""},

		{"podName", "podName: web-0", "podName: web-1", "podName"},
		{"another container", main, "containers: [{name: other}]", "containers"},
		{"one container more", main, "containers: [{name: main, statusContext: {containerID: 'a://1', restartCount: 0}}, {name: other}]", "containers"},
		{"one container more beside an unknown hook", sleeping, "containers: [{name: main}, {name: other}]", "containers"},
		{"statusContext", main, "containers: [{name: main, statusContext: {containerID: 'a://2', restartCount: 0}}]", "containers"},
		{"preStop", hook, "containers: [{name: main, preStop: {exec: {command: [rm]}}}]", "containers"},
		{"preStop comes", main, hook, "containers"},
		{"preStop with sleep comes", main, sleeping, "containers"},
		{"ports", main, "containers: [{name: main, ports: [{containerPort: 80}]}]", "containers"},
		{"failurePolicy", "strategy: {failurePolicy: Ignore}", "", "strategy.failurePolicy"},
		{"orderedRecreate", "", "strategy: {orderedRecreate: true}", "strategy.orderedRecreate"},
		{"forceRecreate", "strategy: {forceRecreate: true}", "strategy: {forceRecreate: false}", "strategy.forceRecreate"},
		{"terminationGracePeriodSeconds", "strategy: {terminationGracePeriodSeconds: 0}", "strategy: {}", "strategy.terminationGracePeriodSeconds"},
		{"unreadyGracePeriodSeconds", "strategy: {}", "strategy: {unreadyGracePeriodSeconds: 0}", "strategy.unreadyGracePeriodSeconds"},
		{"minStartedSeconds", "strategy: {minStartedSeconds: 1}", "strategy: {}", "strategy.minStartedSeconds"},
		{"activeDeadlineSeconds", "activeDeadlineSeconds: 3", "activeDeadlineSeconds: 4", "activeDeadlineSeconds"},
		{"ttlSecondsAfterFinished", "ttlSecondsAfterFinished: 0", "", "ttlSecondsAfterFinished"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var want []string
			if test.field != "" {
				want = []string{"spec." + test.field + ": cannot be changed: create another ContainerRecreateRequest"}
			}
			check(t, want, v.judge(t, recreateRequest(test.to), recreateRequest(test.from)))
		})
	}
}

// An object as large as the API server takes must not run into the limit on
// what the evaluation of rules may cost.
func TestContainerRecreateRequestOfGreatSizeIsAffordable(t *testing.T) {
	v := newValidator(t, "containerrecreaterequests.apps.kruise.io", "v1alpha1")
	var spec strings.Builder
	spec.WriteString("containers:\n")
	for i := range 10_000 {
		fmt.Fprintf(&spec, "- {name: c%d, preStop: {exec: {command: [bye]}}, statusContext: {containerID: 'a://%d', restartCount: 1}}\n", i, i)
	}
	object := recreateRequest(spec.String())
	check(t, nil, v.judge(t, object, object))
}
