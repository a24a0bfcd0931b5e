// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// service is the one behind which OpenKruise's webhooks are.
const service = "kruise-webhook-service"

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

func entries(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}
