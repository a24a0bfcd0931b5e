// SPDX-License-Identifier: Apache-2.0

package e2e

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

var ownership = []guarantee{
	{
		name:    "deletion",
		promise: "Deleting the set deletes its pods and revisions, and no claims.",
		spec:    []string{withClaims, `{replicas: 2}`},
		play: func(p *play) {
			p.begin(2)
			p.deleteSet(metav1.DeletePropagationForeground)
			p.awaitRevisions()
			p.awaitClaims("data-web-0", "data-web-1")
			p.settled()
		},
	},
	{
		name:    "orphaned pods are adopted",
		promise: "Pods that a set has left behind run on, and belong to the next one of its name, without a restart.",
		spec:    []string{withClaims, `{replicas: 2}`},
		play: func(p *play) {
			p.begin(2)
			p.forget()
			p.deleteSet(metav1.DeletePropagationOrphan)
			p.settled("web-0 web:1 orphan", "web-1 web:1 orphan")
			p.happenedInAnyOrder("release web-0", "release web-1")
			p.begin(2)
			p.happenedInAnyOrder("adopt web-0", "adopt web-1")
			p.awaitRevisions("1 web:1")
		},
	},
	{
		name:    "a pod that loses its labels",
		promise: "A pod that the selector no longer matches is released, and runs on; another takes its place when its name is free.",
		play: func(p *play) {
			p.begin(3)
			p.forget()
			p.Label("web-1", "app", "debugged")
			p.awaitPods("web-0 web:1", "web-1 web:1 orphan", "web-2 web:1")
			p.DeletePod("web-1")
			p.settled("web-0 web:1", "web-1 web:1", "web-2 web:1")
			p.happened("release web-1", "replace web-1 web:1")
		},
	},
	{
		name:    "strangers are left alone",
		promise: "A pod with the labels of the set but not a name of it does not belong to it.",
		spec:    []string{`{replicas: 1}`},
		play: func(p *play) {
			p.createOrphan("other-0")
			p.createOrphan("web-x")
			p.create()
			p.settled("other-0 web:1 orphan", "web-0 web:1", "web-x web:1 orphan")
			p.scale(0)
			p.settled("other-0 web:1 orphan", "web-x web:1 orphan")
		},
	},
	{
		name:    "a namesake is adopted",
		promise: "A pod with the labels and a name of the set belongs to it, and is brought to its template.",
		spec:    []string{`{replicas: 2}`},
		play: func(p *play) {
			p.createOrphan("web-1")
			p.forget()
			p.create()
			p.happenedInAnyOrder("create web-0 web:1", "ready web-0", "adopt web-1", "replace web-1 web:1")
			p.settled("web-0 web:1", "web-1 web:1")
		},
	},
}
