// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var claims = append(retention(), []guarantee{
	{
		name:    "scaling to 0 and back",
		promise: "Scaling down deletes no claim, and a pod that comes back finds its own.",
		spec:    []string{withClaims, `{replicas: 2}`},
		play: func(p *play) {
			p.begin(2)
			p.scale(0)
			p.settled()
			p.scale(2)
			p.settled("web-0 web:1", "web-1 web:1")
			p.keptClaims()
		},
	},
	{
		name:    "claims outlive their set",
		promise: "A set that is created again finds the claims of the one that was deleted.",
		spec:    []string{withClaims, `{replicas: 1}`},
		play: func(p *play) {
			p.begin(1)
			p.deleteSet(metav1.DeletePropagationBackground)
			p.settled()
			p.begin(1)
			p.keptClaims()
		},
	},
	{
		name:    "claims through an update",
		promise: "An update changes pods and no claims.",
		spec:    []string{withClaims, `{replicas: 2}`},
		play: func(p *play) {
			p.begin(2)
			p.setImage("web:2")
			p.settled("web-0 web:2", "web-1 web:2")
			p.keptClaims()
		},
	},
	{
		name:    "a deleted claim",
		promise: "A claim that is deleted goes when no pod uses it, and its pod gets a new one.",
		spec:    []string{withClaims, `{replicas: 2}`},
		play: func(p *play) {
			p.begin(2)
			p.deleteClaim("data-web-1")
			p.DeletePod("web-1")
			p.settled("web-0 web:1", "web-1 web:1")
			p.awaitClaims("data-web-0", "data-web-1")
		},
	},
	{
		name:    "a claim instead of a volume",
		promise: "A claim takes the place of a volume of the template that has its name.",
		spec:    []string{withClaims, `{replicas: 1, template: {spec: {volumes: [{name: data, emptyDir: {}}, {name: tmp, emptyDir: {}}]}}}`},
		play: func(p *play) {
			p.begin(1)
		},
	},
	{
		name:    "a claim that is there already",
		promise: "A claim of the right name is used and not changed, whatever created it.",
		spec:    []string{withClaims, `{replicas: 1}`},
		play: func(p *play) {
			p.createClaim("data-web-0")
			p.begin(1)
			p.keptClaims()
		},
	},
	{
		name:    "a retention policy that is changed",
		promise: "A changed policy holds for the claims that there are.",
		spec:    []string{withClaims, `{replicas: 2}`},
		play: func(p *play) {
			p.create()
			p.awaitClaims("data-web-0", "data-web-1")
			p.settled("web-0 web:1", "web-1 web:1")
			p.change(`{persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete, whenScaled: Retain}}`)
			p.awaitClaims("data-web-0 of StatefulSet web", "data-web-1 of StatefulSet web")
			p.settled("web-0 web:1", "web-1 web:1")
			p.change(`{persistentVolumeClaimRetentionPolicy: {whenDeleted: Retain, whenScaled: Retain}}`)
			p.awaitClaims("data-web-0", "data-web-1")
			p.settled("web-0 web:1", "web-1 web:1")
			p.keptClaims()
		},
	},
}...)

// retention is what becomes of claims under the four policies.
func retention() (all []guarantee) {
	for _, policy := range []struct {
		whenDeleted, whenScaled string
		owned                   string // how claims in use are owned
		afterScaling            []string
		afterDeletion           []string
	}{
		{"Retain", "Retain", "", []string{"data-web-0", "data-web-1"}, []string{"data-web-0", "data-web-1"}},
		{"Retain", "Delete", "", []string{"data-web-0"}, []string{"data-web-0", "data-web-1"}},
		{"Delete", "Retain", " of StatefulSet web", []string{"data-web-0 of StatefulSet web", "data-web-1 of StatefulSet web"}, nil},
		{"Delete", "Delete", " of StatefulSet web", []string{"data-web-0 of StatefulSet web"}, nil},
	} {
		all = append(all, guarantee{
			name: fmt.Sprintf("claims, whenDeleted %s, whenScaled %s", policy.whenDeleted, policy.whenScaled),
			promise: "Claims go with the set, or with pods that are scaled away, as persistentVolumeClaimRetentionPolicy says; " +
				"never with a pod that is deleted otherwise.",
			spec: []string{withClaims, fmt.Sprintf(`{replicas: 2, persistentVolumeClaimRetentionPolicy: {whenDeleted: %s, whenScaled: %s}}`,
				policy.whenDeleted, policy.whenScaled)},
			play: func(p *play) {
				p.create()
				both := []string{"data-web-0" + policy.owned, "data-web-1" + policy.owned}
				p.awaitClaims(both...)
				p.settled("web-0 web:1", "web-1 web:1")
				p.DeletePod("web-1")
				p.settled("web-0 web:1", "web-1 web:1")
				p.awaitClaims(both...)
				p.keptClaims()
				p.scale(1)
				p.awaitClaims(policy.afterScaling...)
				p.settled("web-0 web:1")
				p.scale(2)
				p.awaitClaims(both...)
				p.settled("web-0 web:1", "web-1 web:1")
				p.deleteSet(metav1.DeletePropagationBackground)
				p.awaitClaims(policy.afterDeletion...)
				p.settled()
			},
		})
	}
	return all
}
