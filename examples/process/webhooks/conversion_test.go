// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podwright/podwright/workloads/conversion"
)

type dict = map[string]any

// definitionOf is a CRD with this spec.conversion; without one where it is nil.
func definitionOf(name string, spec dict) *unstructured.Unstructured {
	d := &unstructured.Unstructured{Object: dict{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": dict{"name": name, "resourceVersion": "7"}, "spec": dict{},
	}}
	if spec != nil {
		d.Object["spec"] = dict{"conversion": spec}
	}
	return d
}

// webhookAt is the spec.conversion of a webhook.
func webhookAt(client dict, versions ...any) dict {
	return dict{"strategy": "Webhook", "webhook": dict{"clientConfig": client, "conversionReviewVersions": versions}}
}

func TestConversion(t *testing.T) {
	service, url := byService, byURL
	service.Serves, url.Serves = serves(conversion.Path), serves(conversion.Path)
	atService := dict{"service": dict{"namespace": "kruise-system", "name": "hooks", "path": "/convert", "port": int64(443)}, "caBundle": "Y2E="}
	at := dict{"url": "https://10.0.0.1:9876/convert", "caBundle": "Y2E="}
	cases := map[string]struct {
		target    Target
		name      string // default: ConvertedName
		standing  dict
		want      dict
		unchanged bool
	}{
		"PF-5: by the Service":                    {target: service, standing: dict{"strategy": "None"}, want: webhookAt(atService, "v1")},
		"PF-5: by URL, with a webhook host":       {target: url, standing: dict{"strategy": "None"}, want: webhookAt(at, "v1")},
		"PF-5: no conversion at all":              {target: service, want: webhookAt(atService, "v1")},
		"PF-5: it stands":                         {target: service, standing: webhookAt(atService, "v1"), want: webhookAt(atService, "v1"), unchanged: true},
		"PF-5: the Service becomes a URL":         {target: url, standing: webhookAt(atService, "v1"), want: webhookAt(at, "v1")},
		"PF-5: a new CA":                          {target: url, standing: webhookAt(dict{"url": at["url"], "caBundle": "b2xk"}, "v1"), want: webhookAt(at, "v1")},
		"PF-5: a manifest without CA":             {target: url, standing: webhookAt(dict{"url": at["url"]}, "v1"), want: webhookAt(at, "v1")},
		"PF-5: OpenKruise's versions are as good": {target: url, standing: webhookAt(at, "v1", "v1beta1"), want: webhookAt(at, "v1", "v1beta1"), unchanged: true},
		"PF-5: they stay when something changes":  {target: service, standing: webhookAt(at, "v1beta1", "v1"), want: webhookAt(atService, "v1beta1", "v1")},
		"PF-5: versions without v1 do not":        {target: url, standing: webhookAt(at, "v1beta1"), want: webhookAt(at, "v1")},
		"PF-5: a kind with one version": {
			target: url, name: "clonesets.apps.kruise.io", standing: dict{"strategy": "None"}, want: dict{"strategy": "None"}, unchanged: true,
		},
		"no conversion is served": {target: byURL, standing: dict{"strategy": "None"}, want: dict{"strategy": "None"}, unchanged: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.name == "" {
				c.name = ConvertedName
			}
			got := definitionOf(c.name, c.standing)
			if err := convert(got, c.target); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(definitionOf(c.name, c.want), got); diff != "" {
				t.Errorf("definition (-want +got):\n%s", diff)
			}
			if changed := !apiequality.Semantic.DeepEqual(got, definitionOf(c.name, c.standing)); changed == c.unchanged {
				t.Errorf("changed: %v, want %v", changed, !c.unchanged)
			}
			before := got.DeepCopy()
			if err := convert(got, c.target); err != nil || !apiequality.Semantic.DeepEqual(before, got) {
				t.Errorf("a second look wants another change (%v)", err)
			}
		})
	}
	broken := definitionOf(ConvertedName, nil)
	broken.Object["spec"] = "x"
	if err := convert(broken, url); err == nil {
		t.Error("no error for a definition whose spec is no object")
	}
}
