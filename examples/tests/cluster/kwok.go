// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"text/template"
	"time"
)

// The stages' texts: kubelet/Pod.jq and Node.jq name the next step for an object, and for each step there is a template that gives the patch.
//
//go:embed kubelet
var kubelet embed.FS

// What image names mean, as regular expressions that gojq and Go templates read alike.
var imageWords = map[string]string{
	"Bad":     `/bad|:bad($|@)`,
	"Fail":    `/fail|:fail($|@)`,
	"Forever": `/forever|:forever($|@)`,
}

const (
	defaultStartDelay = time.Second
	// runTime is how long the containers of pods run that run to completion. It also paces those that fail and start over.
	runTime = time.Second
	// endDelay is how long a deleted pod stays.
	endDelay = 200 * time.Millisecond
	// heartbeatInterval is how often a node refreshes its conditions. Rarely: the controller manager waits for a day.
	heartbeatInterval = 5 * time.Minute
)

// object is a Kubernetes object on its way to JSON. KWOK's own Go types would link KWOK into every program that uses this package.
type object = map[string]any

// stages returns the file with KWOK's stages, as JSON documents.
func stages(startDelay *time.Duration) ([]byte, error) {
	start := defaultStartDelay
	if startDelay != nil {
		start = *startDelay
	}
	var out bytes.Buffer
	for _, s := range []stage{
		{kind: "Pod", step: "delete", delay: endDelay},
		{kind: "Pod", step: "stop"},
		{kind: "Pod", step: "start", delay: start},
		{kind: "Pod", step: "exit", delay: runTime},
		{kind: "Pod", step: "conditions"},
		{kind: "Node", step: "register"},
		{kind: "Node", step: "heartbeat", delay: heartbeatInterval},
	} {
		document, err := s.document()
		if err != nil {
			return nil, err
		}
		data, err := json.MarshalIndent(document, "", "  ")
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&out, "---\n%s\n", data)
	}
	return out.Bytes(), nil
}

// stage is one thing that a simulated kubelet does.
type stage struct {
	kind, step string
	delay      time.Duration
}

// document returns the Stage object. All stages of a kind ask the same question, what is the next step, and each takes one
// answer; so never two of them match.
func (s stage) document() (object, error) {
	question, err := text(s.kind + ".jq")
	if err != nil {
		return nil, err
	}
	step := object{"delete": true}
	if s.step != "delete" {
		patch, err := s.patch()
		if err != nil {
			return nil, err
		}
		step = object{"patch": object{"subresource": "status", "type": "strategic", "template": patch}}
	}
	return object{
		"apiVersion": "kwok.x-k8s.io/v1alpha1",
		"kind":       "Stage",
		"metadata":   object{"name": s.kind + "-" + s.step},
		"spec": object{
			"resourceRef": object{"apiGroup": "v1", "kind": s.kind},
			"selector": object{"matchExpressions": []object{
				{"key": question, "operator": "In", "values": []string{s.step}},
			}},
			"delay": object{"durationMilliseconds": s.delay.Milliseconds()},
			"steps": []object{step},
		},
	}, nil
}

// patch returns the template of the stage's patch. Those of pods stand between a common beginning and end.
func (s stage) patch() (string, error) {
	if s.kind == "Node" {
		return text("Node.tmpl")
	}
	var all string
	for _, name := range []string{"Pod-before", "Pod-" + s.step, "Pod-after"} {
		part, err := text(name + ".tmpl")
		if err != nil {
			return "", err
		}
		all += part
	}
	return all, nil
}

// text returns a file of the directory kubelet with the image words filled in. The delimiters differ from those of the
// templates in the files, which KWOK expands.
func text(name string) (string, error) {
	parsed, err := template.New(name).Delims("<<", ">>").ParseFS(kubelet, "kubelet/"+name)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, imageWords); err != nil {
		return "", err
	}
	return out.String(), nil
}
