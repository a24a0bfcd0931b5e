// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"cmp"
	"slices"
	"sort"
)

// Severity is what a finding asks of the user.
type Severity string

// The severities, the most urgent first.
const (
	// NeedsAnswer is what the user has to decide before the take-over.
	NeedsAnswer Severity = "needs an answer"
	// StuckToday is what OpenKruise leaves in a state that does not end. The finding says what podwright does about it.
	StuckToday Severity = "stuck today"
	// WillHappen is what podwright does, or what happens on the way. It needs no answer.
	WillHappen Severity = "will happen"
)

var order = []Severity{NeedsAnswer, StuckToday, WillHappen}

// Finding is what there is to say about an object.
type Finding struct {
	// Object is its kind and name: "Pod shop/web".
	Object   string   `json:"object"`
	Severity Severity `json:"severity"`
	// Says is what will happen, or what is so today.
	Says string `json:"says"`
	// Do is what the user can do; empty if there is nothing to do.
	Do string `json:"do,omitempty"`
	// Rule is the id of the rule by which podwright acts.
	Rule string `json:"rule"`
}

// Report is what a check found.
type Report struct {
	// OpenKruise is the release that was found, such as "1.8"; empty if the cluster has none. By says how it was told.
	OpenKruise string `json:"openKruise,omitempty"`
	By         string `json:"by"`
	// Findings are sorted by severity, object and rule.
	Findings []Finding `json:"findings"`
	// Unread is what could not be read, so that nothing is said about it: 100 sentences at most, and one more that counts the rest.
	Unread []string `json:"unread,omitempty"`
}

// NeedsAnswers tells whether a finding waits for an answer.
func (r *Report) NeedsAnswers() bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Severity == NeedsAnswer })
}

// check is a check that is being made.
type check struct {
	*Cluster
	release  string // of OpenKruise
	findings []Finding
}

// Check judges a cluster. It reads nothing. (KC-26)
func Check(cluster *Cluster) *Report {
	c := &check{Cluster: cluster}
	report := &Report{Unread: cluster.Unread}
	report.OpenKruise, report.By = cluster.release()
	if c.release = report.OpenKruise; c.release != "" {
		for _, judge := range []func(){c.definitions, c.prunings, c.webhooks, c.programs, c.leases, c.gates, c.finalizers, c.workloads,
			c.ownWorkloads, c.cronJobs, c.imageJobs, c.secrets, c.requests, c.spreads, c.budgets, func() { c.pods(states) }} {
			judge()
		}
	}
	report.Findings = c.sorted()
	return report
}

// sorted are the findings, the most urgent first.
func (c *check) sorted() []Finding {
	sort.Slice(c.findings, func(i, j int) bool { // of package slices it would make the program larger
		a, b := &c.findings[i], &c.findings[j]
		return cmp.Or(cmp.Compare(slices.Index(order, a.Severity), slices.Index(order, b.Severity)),
			cmp.Compare(a.Object, b.Object), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Says, b.Says)) < 0
	})
	return append([]Finding{}, c.findings...)
}

// answer adds a finding that needs an answer.
func (c *check) answer(object, rule, says, do string) {
	c.findings = append(c.findings, Finding{Object: object, Severity: NeedsAnswer, Says: says, Do: do, Rule: rule})
}

// stuck adds a finding about a state that does not end today.
func (c *check) stuck(object, rule, says, do string) {
	c.findings = append(c.findings, Finding{Object: object, Severity: StuckToday, Says: says, Do: do, Rule: rule})
}

// happens adds a finding about what comes by itself.
func (c *check) happens(object, rule, says string) {
	c.findings = append(c.findings, Finding{Object: object, Severity: WillHappen, Says: says, Rule: rule})
}
