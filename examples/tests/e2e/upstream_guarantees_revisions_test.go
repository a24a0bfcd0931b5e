// SPDX-License-Identifier: Apache-2.0

package e2e

var revisions = []guarantee{
	{
		name:    "history limit",
		promise: "Beside the revisions of pods, revisionHistoryLimit old ones are kept, the newest.",
		spec:    []string{`{replicas: 1, revisionHistoryLimit: 2}`},
		play: func(p *play) {
			p.begin(1)
			for _, image := range []string{"web:2", "web:3", "web:4", "web:5"} {
				p.setImage(image)
				p.awaitPods("web-0 " + image)
			}
			p.awaitRevisions("3 web:3", "4 web:4", "5 web:5")
			p.settled("web-0 web:5")
		},
	},
	{
		name:    "no history",
		promise: "With a limit of 0, only the revisions of pods are kept.",
		spec:    []string{`{replicas: 1, revisionHistoryLimit: 0}`},
		play: func(p *play) {
			p.begin(1)
			p.setImage("web:2")
			p.awaitPods("web-0 web:2")
			p.awaitRevisions("2 web:2")
			p.settled("web-0 web:2")
		},
	},
	{
		name:    "rollback",
		promise: "A template that was there before gets its revision back, with the next number.",
		spec:    []string{`{replicas: 1}`},
		play: func(p *play) {
			p.begin(1)
			p.setImage("web:2")
			p.settled("web-0 web:2")
			p.awaitRevisions("1 web:1", "2 web:2")
			p.setImage("web:1")
			p.settled("web-0 web:1")
			p.awaitRevisions("2 web:2", "3 web:1")
		},
	},
	{
		name:    "no revision without a change of the template",
		promise: "Only the template makes revisions.",
		spec:    []string{`{replicas: 1}`},
		play: func(p *play) {
			p.begin(1)
			p.change(`{replicas: 2, revisionHistoryLimit: 5, updateStrategy: {rollingUpdate: {partition: 1}}}`)
			p.settled("web-0 web:1", "web-1 web:1")
			p.awaitRevisions("1 web:1")
		},
	},
}
