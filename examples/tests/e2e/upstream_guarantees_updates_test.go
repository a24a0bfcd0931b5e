// SPDX-License-Identifier: Apache-2.0

package e2e

import "time"

var updates = []guarantee{
	{
		name:    "rolling update",
		promise: "Pods are updated from the highest ordinal down, one at a time, each when the one before is Running and Ready.",
		play: func(p *play) {
			p.begin(3)
			p.forget()
			p.setImage("web:2")
			p.settled("web-0 web:2", "web-1 web:2", "web-2 web:2")
			p.happened("replace web-2 web:2", "replace web-1 web:2", "replace web-0 web:2")
		},
	},
	{
		name:    "one at a time",
		promise: "The next pod is updated when the one before is gone, created again and Ready.",
		spec:    []string{held},
		play: func(p *play) {
			p.begin(3)
			p.setImage("web:2")
			p.settled("web-0 web:1", "web-1 web:1", "web-2 web:1 terminating")
			p.release("web-2")
			p.settled("web-0 web:1", "web-1 web:1 terminating", "web-2 web:2")
			p.release("web-1")
			p.settled("web-0 web:1 terminating", "web-1 web:2", "web-2 web:2")
			p.release("web-0")
			p.settled("web-0 web:2", "web-1 web:2", "web-2 web:2")
		},
	},
	{
		name:    "rolling update, parallel",
		promise: "podManagementPolicy Parallel is about scaling only: updates keep to their order.",
		spec:    []string{parallel},
		play: func(p *play) {
			p.begin(3)
			p.forget()
			p.setImage("web:2")
			p.settled("web-0 web:2", "web-1 web:2", "web-2 web:2")
			p.happened("replace web-2 web:2", "replace web-1 web:2", "replace web-0 web:2")
		},
	},
	{
		name:    "maxUnavailable",
		promise: "With maxUnavailable, that many of the highest pods are updated at a time.",
		spec:    []string{parallel, `{replicas: 4, updateStrategy: {rollingUpdate: {maxUnavailable: 2}}}`},
		play: func(p *play) {
			p.begin(4)
			p.forget()
			p.setImage("web:bad")
			p.settled("web-0 web:1", "web-1 web:1", "web-2 web:bad unready", "web-3 web:bad unready")
			p.happenedInAnyOrder("delete web-3", "gone web-3", "create web-3 web:bad", "delete web-2", "gone web-2", "create web-2 web:bad")
			p.setImage("web:2")
			p.settled("web-0 web:2", "web-1 web:2", "web-2 web:2", "web-3 web:2")
		},
	},
	{
		name:    "maxUnavailable in percent",
		promise: "A percentage is taken of the replicas and rounded down.",
		spec:    []string{parallel, `{replicas: 5, updateStrategy: {rollingUpdate: {maxUnavailable: 50%}}}`},
		play: func(p *play) {
			p.begin(5)
			p.setImage("web:bad")
			p.settled("web-0 web:1", "web-1 web:1", "web-2 web:1", "web-3 web:bad unready", "web-4 web:bad unready")
		},
	},
	{
		name:    "restart",
		promise: "kubectl rollout restart, which annotates the template, replaces all pods.",
		spec:    []string{`{replicas: 2}`},
		play: func(p *play) {
			p.begin(2)
			p.forget()
			p.change(`{template: {metadata: {annotations: {kubectl.kubernetes.io/restartedAt: "2026-01-02T03:04:05Z"}}}}`)
			p.happened("replace web-1 web:1", "replace web-0 web:1")
			p.settled("web-0 web:1", "web-1 web:1")
		},
	},
	{
		name:    "canary and phased rollout",
		promise: "Only pods from the partition up are updated; a lower partition updates more.",
		spec:    []string{`{replicas: 4, updateStrategy: {rollingUpdate: {partition: 3}}}`},
		play: func(p *play) {
			p.begin(4)
			p.forget()
			p.setImage("web:2")
			p.settled("web-0 web:1", "web-1 web:1", "web-2 web:1", "web-3 web:2")
			p.happened("replace web-3 web:2")
			p.change(`{updateStrategy: {rollingUpdate: {partition: 1}}}`)
			p.settled("web-0 web:1", "web-1 web:2", "web-2 web:2", "web-3 web:2")
			p.happened("replace web-2 web:2", "replace web-1 web:2")
			p.change(`{updateStrategy: {rollingUpdate: {partition: 0}}}`)
			p.settled("web-0 web:2", "web-1 web:2", "web-2 web:2", "web-3 web:2")
			p.happened("replace web-0 web:2")
		},
	},
	{
		name:    "a partition above the replicas",
		promise: "Where the partition is above the replicas, changes of the template reach no pod, but those that are added from there up.",
		spec:    []string{`{replicas: 2, updateStrategy: {rollingUpdate: {partition: 3}}}`},
		play: func(p *play) {
			p.begin(2)
			p.forget()
			p.setImage("web:2")
			p.settled("web-0 web:1", "web-1 web:1")
			p.happened()
			p.scale(4)
			p.settled("web-0 web:1", "web-1 web:1", "web-2 web:1", "web-3 web:2")
			p.happened("create web-2 web:1", "ready web-2", "create web-3 web:2", "ready web-3")
		},
	},
	{
		name:    "a raised partition",
		promise: "A partition that is raised moves no pod back.",
		spec:    []string{`{updateStrategy: {rollingUpdate: {partition: 1}}}`},
		play: func(p *play) {
			p.begin(3)
			p.setImage("web:2")
			p.settled("web-0 web:1", "web-1 web:2", "web-2 web:2")
			p.forget()
			p.change(`{updateStrategy: {rollingUpdate: {partition: 3}}}`)
			p.settled("web-0 web:1", "web-1 web:2", "web-2 web:2")
			p.happened()
		},
	},
	{
		name:    "a pod deleted during a canary",
		promise: "A pod below the partition comes back at the old revision, even when it is deleted.",
		spec:    []string{`{updateStrategy: {rollingUpdate: {partition: 2}}}`},
		play: func(p *play) {
			p.begin(3)
			p.setImage("web:2")
			p.settled("web-0 web:1", "web-1 web:1", "web-2 web:2")
			p.forget()
			p.DeletePod("web-0")
			p.settled("web-0 web:1", "web-1 web:1", "web-2 web:2")
			p.DeletePod("web-2")
			p.settled("web-0 web:1", "web-1 web:1", "web-2 web:2")
			p.happened("replace web-0 web:1", "replace web-2 web:2")
		},
	},
	{
		name:    "OnDelete",
		promise: "With the type OnDelete, a pod gets the new template only when it is deleted by hand.",
		spec:    []string{onDelete},
		play: func(p *play) {
			p.begin(3)
			p.forget()
			p.setImage("web:2")
			p.settled("web-0 web:1", "web-1 web:1", "web-2 web:1")
			p.happened()
			p.DeletePod("web-1")
			p.settled("web-0 web:1", "web-1 web:2", "web-2 web:1")
			p.scale(4)
			p.settled("web-0 web:1", "web-1 web:2", "web-2 web:1", "web-3 web:2")
			p.happened("replace web-1 web:2", "create web-3 web:2", "ready web-3")
		},
	},
	{
		name:    "minReadySeconds",
		promise: "A pod counts when it has been Ready for minReadySeconds: before that, no other is created or updated.",
		spec:    []string{`{replicas: 2, minReadySeconds: 2}`},
		play: func(p *play) {
			p.begin(2)
			p.setImage("web:2")
			p.settled("web-0 web:2", "web-1 web:2")
			p.happened("create web-0 web:1", "ready web-0", "create web-1 web:1", "ready web-1", "replace web-1 web:2", "replace web-0 web:2")
			p.neverActedWithin(2 * time.Second)
		},
	},
	{
		name: "a bad image is contained",
		promise: "A rollout stops at the first pod that does not become Ready, and goes back when the template does. With OrderedReady, " +
			"a user must delete the pod in Kubernetes; here it is replaced.",
		play: func(p *play) {
			p.begin(3)
			p.forget()
			p.setImage("web:bad")
			p.settled("web-0 web:1", "web-1 web:1", "web-2 web:bad unready")
			p.setImage("web:1")
			if p.side == kubernetes {
				p.awaitPods("web-0 web:1", "web-1 web:1", "web-2 web:bad unready")
				p.DeletePod("web-2")
			}
			p.settled("web-0 web:1", "web-1 web:1", "web-2 web:1")
			p.happened("delete web-2", "gone web-2", "create web-2 web:bad", "replace web-2 web:1")
		},
	},
	{
		name:    "a bad image is corrected",
		promise: "The same for an image that is neither the bad one nor the one before.",
		play: func(p *play) {
			p.begin(3)
			p.setImage("web:bad")
			p.settled("web-0 web:1", "web-1 web:1", "web-2 web:bad unready")
			p.setImage("web:2")
			if p.side == kubernetes {
				p.awaitPods("web-0 web:1", "web-1 web:1", "web-2 web:bad unready")
				p.DeletePod("web-2")
			}
			p.settled("web-0 web:2", "web-1 web:2", "web-2 web:2")
		},
	},
	{
		name:    "a bad image from the start",
		promise: "The same for the first pod of all.",
		spec:    []string{badImage},
		play: func(p *play) {
			p.create()
			p.settled("web-0 web:bad unready")
			p.setImage("web:1")
			if p.side == kubernetes {
				p.awaitPods("web-0 web:bad unready")
				p.DeletePod("web-0")
			}
			p.settled("web-0 web:1", "web-1 web:1", "web-2 web:1")
			p.happened("create web-0 web:bad", "replace web-0 web:1", "create web-1 web:1", "ready web-1", "create web-2 web:1", "ready web-2")
		},
	},
	{
		name:    "a bad image is contained, parallel",
		promise: "With podManagementPolicy Parallel, a stopped rollout goes on by itself when the template is right again.",
		spec:    []string{parallel},
		play: func(p *play) {
			p.begin(3)
			p.forget()
			p.setImage("web:bad")
			p.settled("web-0 web:1", "web-1 web:1", "web-2 web:bad unready")
			p.setImage("web:2")
			p.settled("web-0 web:2", "web-1 web:2", "web-2 web:2")
			p.happened("delete web-2", "gone web-2", "create web-2 web:bad", "replace web-2 web:2", "replace web-1 web:2", "replace web-0 web:2")
		},
	},
	{
		name:    "a rollback in the middle",
		promise: "A rollback takes back the pods that were updated, and leaves the others alone.",
		spec:    []string{`{updateStrategy: {rollingUpdate: {partition: 1}}}`},
		play: func(p *play) {
			p.begin(3)
			p.setImage("web:2")
			p.settled("web-0 web:1", "web-1 web:2", "web-2 web:2")
			p.forget()
			p.change(`{updateStrategy: {rollingUpdate: {partition: 0}}, template: {spec: {containers: [{name: main, image: "web:1"}]}}}`)
			p.settled("web-0 web:1", "web-1 web:1", "web-2 web:1")
			p.happened("replace web-2 web:1", "replace web-1 web:1")
		},
	},
	{
		name:    "an update does not wait for unready pods, parallel",
		promise: "With podManagementPolicy Parallel, a pod that is not Ready is updated too: before the others in Kubernetes, in its turn here, as in OpenKruise.",
		spec:    []string{parallel},
		play: func(p *play) {
			p.begin(3)
			p.setReady("web-0", false)
			p.setImage("web:2")
			p.settled("web-0 web:2", "web-1 web:2", "web-2 web:2")
		},
	},
	{
		name:    "an update waits for unready pods",
		promise: "In order, no pod is updated while one of them is not Ready.",
		play: func(p *play) {
			p.begin(3)
			p.setReady("web-0", false)
			p.forget()
			p.setImage("web:2")
			p.settled("web-0 web:1 unready", "web-1 web:1", "web-2 web:1")
			p.happened()
			p.setReady("web-0", true)
			p.settled("web-0 web:2", "web-1 web:2", "web-2 web:2")
		},
	},
	{
		name:    "scaling goes before updating",
		promise: "Pods that are scaled away are not updated before.",
		play: func(p *play) {
			p.begin(3)
			p.forget()
			p.change(`{replicas: 1, template: {metadata: {annotations: {example.com/note: changed}}}}`)
			p.settled("web-0 web:1")
			p.happened("delete web-2", "gone web-2", "delete web-1", "gone web-1", "replace web-0 web:1")
		},
	},
}
