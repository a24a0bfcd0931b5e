// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"strconv"
	"text/template"
)

// chart is a picture of bars in groups, one bar for each series.
type chart struct {
	Title, Unit string
	Series      []string // at most as many as there are colors
	Groups      []group
	Decimals    int
}

// group is what stands beside one label.
type group struct {
	Label  string
	Values []value // as many as there are series
}

// value is a number, or nothing.
type value struct {
	N     float64
	Given bool
}

func of(n float64) value { return value{n, true} }

// The colors of series: they differ for those who see no red or green, too.
var colors = []string{"#1f6feb", "#8b949e", "#d29922", "#6f42c1"}

// The measures of a picture, in pixels.
const (
	width, left, right = 760, 170, 90
	top, bar, gap      = 64, 15, 12
)

//go:embed chart.svg.tmpl
var picture string

var draw = template.Must(template.New("chart").Parse(picture))

// mark is a bar, or the place of one.
type mark struct {
	X, Y, Width int
	Color, Text string
}

// svg draws a chart: its bars are as long as its values say, the longest one from end to end.
func svg(c chart) ([]byte, error) {
	var most float64
	for _, g := range c.Groups {
		if len(g.Values) != len(c.Series) || len(c.Series) > len(colors) {
			return nil, fmt.Errorf("chart %q, %s: want a value for each of %d series, and no more series than %d colors; found %d values", c.Title, g.Label, len(c.Series), len(colors), len(g.Values))
		}
		for _, v := range g.Values {
			most = max(most, v.N)
		}
	}
	if most <= 0 {
		return nil, fmt.Errorf("chart %q: want a value above 0", c.Title)
	}
	data := struct {
		chart
		Width, Height, Bar   int
		Legend, Labels, Bars []mark
	}{chart: c, Width: width, Bar: bar}
	x := left
	for i, name := range c.Series {
		data.Legend = append(data.Legend, mark{X: x, Color: colors[i], Text: name})
		x += 32 + 8*len(name)
	}
	y := top
	for _, g := range c.Groups {
		data.Labels = append(data.Labels, mark{X: left - 10, Y: y + len(g.Values)*bar/2 + 4, Text: g.Label})
		for i, v := range g.Values {
			m := mark{X: left, Y: y, Color: colors[i], Text: "not counted"}
			if v.Given {
				m.Width, m.Text = int(v.N/most*(width-left-right)+0.5), strconv.FormatFloat(v.N, 'f', c.Decimals, 64)+" "+c.Unit
			}
			data.Bars, y = append(data.Bars, m), y+bar
		}
		y += gap
	}
	data.Height = y + 8
	var out bytes.Buffer
	err := draw.Execute(&out, data)
	return out.Bytes(), err
}
