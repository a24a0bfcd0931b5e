// SPDX-License-Identifier: Apache-2.0

package e2e

var scaling = []guarantee{
	{
		name:    "ordered start",
		promise: "Pods are created one after another from ordinal 0 up.",
		play: func(p *play) {
			p.begin(3)
			p.happened("create web-0 web:1", "ready web-0", "create web-1 web:1", "ready web-1", "create web-2 web:1", "ready web-2")
		},
	},
	{
		name:    "ordered start waits",
		promise: "A pod is created when all those before it are Running and Ready.",
		spec:    []string{badImage},
		play: func(p *play) {
			p.create()
			p.settled("web-0 web:bad unready")
			p.happened("create web-0 web:bad")
		},
	},
	{
		name:    "parallel start",
		promise: "With podManagementPolicy Parallel, pods are created without waiting for others to be Ready.",
		spec:    []string{parallel, badImage},
		play: func(p *play) {
			p.create()
			p.settled("web-0 web:bad unready", "web-1 web:bad unready", "web-2 web:bad unready")
			p.scale(4)
			p.settled("web-0 web:bad unready", "web-1 web:bad unready", "web-2 web:bad unready", "web-3 web:bad unready")
			p.happenedInAnyOrder("create web-0 web:bad", "create web-1 web:bad", "create web-2 web:bad", "create web-3 web:bad")
		},
	},
	{
		name:    "ordered scale-up",
		promise: "Scaling up continues in order.",
		spec:    []string{`{replicas: 1}`},
		play: func(p *play) {
			p.begin(1)
			p.scale(3)
			p.settled("web-0 web:1", "web-1 web:1", "web-2 web:1")
			p.happened("create web-0 web:1", "ready web-0", "create web-1 web:1", "ready web-1", "create web-2 web:1", "ready web-2")
		},
	},
	{
		name:    "ordered scale-down",
		promise: "Pods are deleted from the highest ordinal down, each when the one after it is gone.",
		spec:    []string{held, `{replicas: 4}`},
		play: func(p *play) {
			p.begin(4)
			p.forget()
			p.scale(1)
			p.settled("web-0 web:1", "web-1 web:1", "web-2 web:1", "web-3 web:1 terminating")
			p.release("web-3")
			p.settled("web-0 web:1", "web-1 web:1", "web-2 web:1 terminating")
			p.release("web-2")
			p.settled("web-0 web:1", "web-1 web:1 terminating")
			p.release("web-1")
			p.settled("web-0 web:1")
			p.happened("delete web-3", "gone web-3", "delete web-2", "gone web-2", "delete web-1", "gone web-1")
		},
	},
	{
		name:    "ordered scale-down waits",
		promise: "A pod is deleted when all those before it are Running and Ready.",
		play: func(p *play) {
			p.begin(3)
			p.setReady("web-0", false)
			p.forget()
			p.scale(2)
			p.settled("web-0 web:1 unready", "web-1 web:1", "web-2 web:1")
			p.setReady("web-0", true)
			p.settled("web-0 web:1", "web-1 web:1")
			p.happened("ready web-0", "delete web-2", "gone web-2")
		},
	},
	{
		name:    "ordered scale-down of an unready pod",
		promise: "The first pod that is not Ready may be the one that is deleted.",
		play: func(p *play) {
			p.begin(3)
			p.setReady("web-2", false)
			p.forget()
			p.scale(2)
			p.settled("web-0 web:1", "web-1 web:1")
			p.happened("delete web-2", "gone web-2")
		},
	},
	{
		name:    "ordered scale-up waits",
		promise: "While a pod is not Ready, those after it are not created.",
		spec:    []string{`{replicas: 2}`},
		play: func(p *play) {
			p.begin(2)
			p.setReady("web-0", false)
			p.forget()
			p.scale(3)
			p.settled("web-0 web:1 unready", "web-1 web:1")
			p.setReady("web-0", true)
			p.settled("web-0 web:1", "web-1 web:1", "web-2 web:1")
			p.happened("ready web-0", "create web-2 web:1", "ready web-2")
		},
	},
	{
		name:    "ordered scale-up waits for a terminating pod",
		promise: "A pod that ends is replaced before any after it is created.",
		spec:    []string{held, `{replicas: 2}`},
		play: func(p *play) {
			p.begin(2)
			p.forget()
			p.DeletePod("web-0")
			p.scale(3)
			p.settled("web-0 web:1 terminating", "web-1 web:1")
			p.release("web-0")
			p.settled("web-0 web:1", "web-1 web:1", "web-2 web:1")
			p.happened("replace web-0 web:1", "create web-2 web:1", "ready web-2")
		},
	},
	{
		name:    "parallel scale-down",
		promise: "With podManagementPolicy Parallel, pods are deleted without waiting for others to be gone.",
		spec:    []string{parallel, held},
		play: func(p *play) {
			p.begin(3)
			p.forget()
			p.scale(0)
			p.settled("web-0 web:1 terminating", "web-1 web:1 terminating", "web-2 web:1 terminating")
			p.happenedInAnyOrder("delete web-0", "delete web-1", "delete web-2")
			p.release("web-0", "web-1", "web-2")
			p.settled()
		},
	},
	{
		name:    "parallel scaling does not wait",
		promise: "With podManagementPolicy Parallel, scaling does not wait for a pod that is not Ready.",
		spec:    []string{parallel, `{replicas: 2}`},
		play: func(p *play) {
			p.begin(2)
			p.setReady("web-0", false)
			p.forget()
			p.scale(3)
			p.settled("web-0 web:1 unready", "web-1 web:1", "web-2 web:1")
			p.scale(1)
			p.settled("web-0 web:1 unready")
			p.happenedInAnyOrder("create web-2 web:1", "ready web-2", "delete web-2", "gone web-2", "delete web-1", "gone web-1")
		},
	},
	{
		name:    "the scale subresource",
		promise: "kubectl scale and autoscalers read and write the replicas through the subresource.",
		spec:    []string{`{replicas: 1}`},
		play: func(p *play) {
			p.begin(1)
			p.scaleThroughSubresource(2)
			p.settled("web-0 web:1", "web-1 web:1")
		},
	},
}
