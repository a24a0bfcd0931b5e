// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// service is the one behind which OpenKruise's webhooks are.
const service = "kruise-webhook-service"

// offeredAnnotation names the entries that podwright does not add to a list any more. (PF-5)
const offeredAnnotation = "podwright.github.io/offered-webhooks"

// inOrder are the configurations that a manager keeps in order.
var inOrder = []string{"kruise-mutating-webhook-configuration", "kruise-validating-webhook-configuration"}

// leadsTo tells whether a configuration has an entry that leads to OpenKruise's Service in a namespace.
func leadsTo(configuration *unstructured.Unstructured, namespace string) bool {
	return slices.ContainsFunc(objects(configuration.Object, "webhooks"), func(webhook map[string]any) bool {
		return text(webhook, "clientConfig", "service", "namespace") == namespace && text(webhook, "clientConfig", "service", "name") == service
	})
}

// webhooks says what the configurations do while no manager answers, and which of them stay behind.
func (c *check) webhooks() {
	for _, configuration := range c.Webhooks {
		failing := 0
		for _, webhook := range objects(configuration.Object, "webhooks") {
			if text(webhook, "failurePolicy") != "Ignore" {
				failing++
			}
		}
		name, template := title(configuration), configuration.GetAnnotations()["template"]
		if !slices.Contains(inOrder, configuration.GetName()) {
			c.answer(name, "PF-5.1", "It leads to the Service "+service+" under a name that no manager keeps in order.",
				"Delete it when OpenKruise's manager has stopped.")
			continue
		}
		if failing > 0 {
			c.happens(name, "PF-5.1", fmt.Sprintf("Its %s with failure policy Fail refuse what they judge while no manager answers.", entries(failing)))
		}
		c.takenAway(configuration)
		if template == "" {
			continue
		}
		c.happens(name, "PF-5", "podwright keeps its annotation template, and rebuilds the entries from it.")
		if c.release == "1.9" && strings.Contains(template, olderPath) {
			c.stuck(name, "PF-5", "Its annotation template is of a release before 1.9, which drops its entries for kinds with v1beta1: they get no defaults.",
				"Nothing: podwright serves the paths of both.")
		}
	}
}

// takenAway says which entries podwright adds though a user seems to have taken them away: the list of a release never lacks them.
func (c *check) takenAway(configuration *unstructured.Unstructured) {
	list, offered := objects(configuration.Object, "webhooks"), strings.Fields(configuration.GetAnnotations()[offeredAnnotation])
	if template := configuration.GetAnnotations()["template"]; template != "" && json.Unmarshal([]byte(template), &list) != nil {
		return // the manager says so
	}
	var lacks []string
	for _, kind := range inEveryList {
		name := strings.ToLower(configuration.GetKind()[:1] + kind + ".kb.io")
		if !slices.Contains(offered, name) && !slices.ContainsFunc(list, func(w map[string]any) bool { return text(w, "name") == name }) {
			lacks = append(lacks, name)
		}
	}
	if len(lacks) > 0 {
		c.answer(title(configuration), "PF-5", "Its list lacks "+few(lacks)+", which that of each release has: a user or a chart has left them out. podwright adds them, once.",
			"To keep one away, write its name into the annotation "+offeredAnnotation+" of the configuration before the manager starts: names, with spaces between.")
	}
}

func entries(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}
