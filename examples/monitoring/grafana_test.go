// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// board is a dashboard: what differs from one to the next.
type board struct {
	name, title string
	// cluster says that its objects have no namespace, or that some have none: there is no choice of namespaces then.
	cluster bool
	panels  []panel
}

// panel is a graph of some queries, each with what its lines are called.
type panel struct {
	title, unit string // a unit of Grafana
	queries     []query
}

type query struct{ expr, legend string }

// one is a graph of one query.
func one(title, unit, expr, legend string) panel { return panel{title, unit, []query{{expr, legend}}} }

// These are the fields that Grafana needs; it fills in the others as it reads a dashboard.
type (
	dashboard struct {
		UID           string   `json:"uid"`
		Title         string   `json:"title"`
		Tags          []string `json:"tags"`
		SchemaVersion int      `json:"schemaVersion"`
		Editable      bool     `json:"editable"`
		Refresh       string   `json:"refresh"`
		Time          span     `json:"time"`
		Templating    struct {
			List []variable `json:"list"`
		} `json:"templating"`
		Panels []graph `json:"panels"`
	}
	span struct {
		From string `json:"from"`
		To   string `json:"to"`
	}
	variable struct {
		Name       string      `json:"name"`
		Label      string      `json:"label"`
		Type       string      `json:"type"`
		Query      string      `json:"query"`
		Datasource *datasource `json:"datasource,omitempty"`
		IncludeAll bool        `json:"includeAll,omitempty"`
		AllValue   string      `json:"allValue,omitempty"`
		Multi      bool        `json:"multi,omitempty"`
		Refresh    int         `json:"refresh,omitempty"`
		Sort       int         `json:"sort,omitempty"`
	}
	datasource struct {
		Type string `json:"type"`
		UID  string `json:"uid"`
	}
	graph struct {
		ID          int        `json:"id"`
		Type        string     `json:"type"`
		Title       string     `json:"title"`
		GridPos     place      `json:"gridPos"`
		Datasource  datasource `json:"datasource"`
		FieldConfig struct {
			Defaults  defaults `json:"defaults"`
			Overrides []any    `json:"overrides"`
		} `json:"fieldConfig"`
		Targets []target `json:"targets"`
	}
	place struct {
		H int `json:"h"`
		W int `json:"w"`
		X int `json:"x"`
		Y int `json:"y"`
	}
	defaults struct {
		Unit string `json:"unit"`
		Min  int    `json:"min"`
	}
	target struct {
		RefID        string `json:"refId"`
		Expr         string `json:"expr"`
		LegendFormat string `json:"legendFormat"`
	}
)

// render returns the file of a dashboard.
func (b board) render() ([]byte, error) {
	source := datasource{Type: "prometheus", UID: "${datasource}"}
	d := dashboard{
		UID: "podwright-" + b.name, Title: "podwright / " + b.title, Tags: []string{"podwright"}, SchemaVersion: 39, Editable: true,
		Refresh: "1m", Time: span{From: "now-6h", To: "now"},
	}
	d.Templating.List = []variable{{Name: "datasource", Label: "Prometheus", Type: "datasource", Query: "prometheus"}}
	if !b.cluster {
		d.Templating.List = append(d.Templating.List, variable{
			Name: "namespace", Label: "Namespace", Type: "query", Query: `label_values({__name__=~"kruise_.+_created"}, namespace)`,
			Datasource: &source, IncludeAll: true, AllValue: ".*", Multi: true, Refresh: 2, Sort: 1,
		})
	}
	for i, p := range b.panels {
		g := graph{ID: i + 1, Type: "timeseries", Title: p.title, Datasource: source, GridPos: place{H: 8, W: 12, X: i % 2 * 12, Y: i / 2 * 8}}
		g.FieldConfig.Defaults.Unit, g.FieldConfig.Overrides = p.unit, []any{}
		for j, q := range p.queries {
			g.Targets = append(g.Targets, target{RefID: fmt.Sprintf("%c", 'A'+j), Expr: q.expr, LegendFormat: q.legend})
		}
		d.Panels = append(d.Panels, g)
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(d)
	return out.Bytes(), err
}
